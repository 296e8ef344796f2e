-- name: insert_approval
INSERT INTO approval (id, run, workflow, step, role, body, status, opened_at, due_at)
VALUES (:id, :run, :workflow, :step, :role, :body, 'open', :now, :due_at) ON CONFLICT (id) DO NOTHING;

-- name: end_approval
-- The first decision stays: one that has ended is not touched.
UPDATE approval SET status = :status, ended_at = :now, decided_by = :decided_by, decision = :decision
 WHERE id = :id AND status = 'open';

-- name: read_approval
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE id = :id;

-- name: approvals_of_run
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE run = :run ORDER BY opened_at, id;

-- name: approvals_with_status
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE status = :status AND (opened_at, id) < (:before, :id) ORDER BY opened_at DESC, id DESC LIMIT :limit;

-- name: all_approvals
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE (opened_at, id) < (:before, :id) ORDER BY opened_at DESC, id DESC LIMIT :limit;
