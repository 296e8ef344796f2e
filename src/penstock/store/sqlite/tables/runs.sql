-- name: update_run
-- Only the revision that the decision was made from: whoever comes second changes nothing.
-- A named list (WITH) would be copied first.
UPDATE run SET revision = new.revision, seq = new.seq, status = new.status, ended_at = new.ended_at,
               waiting = new.waiting, head = new.head
  FROM (SELECT column1 AS revision, column2 AS seq, column3 AS status, column4 AS ended_at, column5 AS waiting,
               column6 AS head, column7 AS run, column8 AS base
          FROM (VALUES (:revision, :seq, :status, :ended_at, :waiting, :head, :run, :base))) AS new
 WHERE run.id = new.run AND run.revision = new.base;

-- name: update_running
-- One that goes on running: nothing is set that an index has, which would cost as much again.
UPDATE run SET revision = new.revision, seq = new.seq, head = new.head
  FROM (SELECT column1 AS revision, column2 AS seq, column3 AS head, column4 AS run, column5 AS base
          FROM (VALUES (:revision, :seq, :head, :run, :base))) AS new
 WHERE run.id = new.run AND run.revision = new.base;

-- name: insert_run
INSERT INTO run (id, workflow, version, subject, parent, labels, started_at, header, revision, seq, status, ended_at,
                 waiting, head)
SELECT *
  FROM (VALUES (:id, :workflow, :version, :subject, :parent, :labels, :started_at, :header, :revision, :seq, :status,
                :ended_at, :waiting, :head))
 WHERE column1 IS NOT NULL
ON CONFLICT (id) DO NOTHING;

-- name: insert_start_key
INSERT INTO start_key (workflow, key, run, digest) VALUES (:workflow, :key, :run, :digest)
ON CONFLICT (workflow, key) DO NOTHING;

-- name: insert_page
INSERT INTO history (run, seq, last, body)
SELECT * FROM (VALUES (:run, :seq, :last, :body)) WHERE column1 IS NOT NULL;

-- name: put_part
INSERT INTO part (run, kind, firing, idx, body) VALUES (:run, :kind, :firing, :idx, :body)
ON CONFLICT (run, kind, firing, idx) DO UPDATE SET body = excluded.body;

-- name: drop_part
DELETE FROM part WHERE run = :run AND kind = :kind AND firing = :firing AND idx = :idx;

-- name: insert_payload
INSERT INTO payload (run, digest, body) VALUES (:run, :digest, :body) ON CONFLICT (run, digest) DO NOTHING;

-- name: insert_labels
INSERT INTO run_label (name, value, started_at, run)
SELECT label.key, label.value, run.started_at, run.id FROM run, json_each(run.labels) AS label WHERE run.id = :run;

-- name: insert_run_key
INSERT INTO run_key (run, name, value, started_at) SELECT id, :name, :value, started_at FROM run WHERE id = :run
ON CONFLICT DO NOTHING;

-- name: drop_rest
DELETE FROM rest WHERE run = :run;

-- name: insert_rest
INSERT INTO rest (run, kind, name, since, started_at) SELECT id, :kind, :name, :since, started_at FROM run WHERE id = :run
ON CONFLICT DO NOTHING;

-- name: insert_timer
INSERT INTO timer (id, run, due, body, ready_at) VALUES (:id, :run, :due, :body, :ready_at);

-- name: use_timer
DELETE FROM timer WHERE id = :id;

-- name: drop_tasks_of_runs
DELETE FROM task WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_timers_of_runs
DELETE FROM timer WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_messages_of_runs
DELETE FROM message WHERE run IN (SELECT value FROM json_each(:runs));

-- name: run_revision
SELECT revision FROM run WHERE id = :run;

-- name: timer_there
SELECT 1 FROM timer WHERE id = :id;

-- name: load_run
SELECT revision, header, head FROM run WHERE id = :run;

-- name: load_parts
SELECT kind, firing, idx, body FROM part WHERE run = :run ORDER BY kind, firing, idx;

-- name: load_payload
SELECT body FROM payload WHERE run = :run AND digest = :digest;

-- name: load_pages
-- From the page that holds entry :after + 1 on.
SELECT seq, last, body FROM history
 WHERE run = :run AND seq >= COALESCE((SELECT max(seq) FROM history WHERE run = :run AND seq <= :after + 1), 0)
   AND last > :after
 ORDER BY seq;

-- name: due_timers
SELECT id, run, body, due FROM timer WHERE ready_at <= :now ORDER BY ready_at, id LIMIT :limit;

-- name: take_timer
UPDATE timer SET ready_at = :until WHERE id = :id;

-- name: next_due
-- The earliest time at which something more falls due.
SELECT min(at) FROM (SELECT min(ready_at) AS at FROM timer UNION ALL SELECT min(ready_at) FROM message
                     UNION ALL SELECT min(expires) FROM task);
