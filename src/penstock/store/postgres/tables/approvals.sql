-- name: insert_approval
INSERT INTO approval (id, run, workflow, step, role, body, status, opened_at, due_at)
SELECT x.id, x.run, x.workflow, x.step, x.role, x.body, 'open', :now::timestamptz, x.due_at
  FROM unnest(:id::text[], :run::text[], :workflow::text[], :step::text[], :role::text[], :body::bytea[],
              :due_at::timestamptz[]) AS x (id, run, workflow, step, role, body, due_at)
ON CONFLICT (id) DO NOTHING;

-- name: end_approval
-- The first decision stays: one that has ended is not touched.
UPDATE approval SET status = x.status, ended_at = :now::timestamptz, decided_by = x.decided_by, decision = x.decision
  FROM unnest(:id::text[], :status::text[], :decided_by::text[], :decision::bytea[])
    AS x (id, status, decided_by, decision)
 WHERE approval.id = x.id AND approval.status = 'open';

-- name: read_approval
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE id = :id::text;

-- name: approvals_of_run
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE run = :run::text ORDER BY opened_at, id;

-- name: approvals_with_status
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE status = :status::text AND (opened_at, id) < (:before::timestamptz, :id::text)
 ORDER BY opened_at DESC, id DESC LIMIT :limit::bigint;

-- name: all_approvals
SELECT id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, decided_by, decision
  FROM approval WHERE (opened_at, id) < (:before::timestamptz, :id::text)
 ORDER BY opened_at DESC, id DESC LIMIT :limit::bigint;
