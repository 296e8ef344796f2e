-- Every statement takes whole columns of many rows. Row locks are taken in one order everywhere: what may be paused
-- (the installation, workflows by name), runs by id, then tasks, timers, messages, then the keys (an advisory lock
-- each, by number), then what lies under them.

-- name: update_run
-- Only the revision that the decision was made from: whoever comes second changes nothing.
-- Locked by id first: two batches that share runs would wait for each other otherwise.
-- With the page of its history: each statement more is a way to the database and back.
WITH asked AS (
    SELECT x.id, base::bigint, revision::bigint, seq::bigint, status, ended_at::timestamptz, waiting::jsonb,
           decode(head, 'base64') AS head, page_from::bigint, decode(page, 'base64') AS page
      FROM ROWS FROM (json_array_elements_text(:run::json), json_array_elements_text(:base::json),
                      json_array_elements_text(:revision::json), json_array_elements_text(:seq::json),
                      json_array_elements_text(:status::json), json_array_elements_text(:ended_at::json),
                      json_array_elements_text(:waiting::json), json_array_elements_text(:head::json),
                      json_array_elements_text(:page_from::json), json_array_elements_text(:page::json))
           AS x (id, base, revision, seq, status, ended_at, waiting, head, page_from, page)),
line AS MATERIALIZED (
    SELECT asked.* FROM run JOIN asked ON run.id = asked.id
     WHERE run.revision = asked.base ORDER BY run.id FOR NO KEY UPDATE OF run),
done AS (
    UPDATE run SET revision = line.revision, seq = line.seq, status = line.status, ended_at = line.ended_at,
           waiting = line.waiting, head = line.head
      FROM line WHERE run.id = line.id
    RETURNING run.id),
told AS (
    INSERT INTO history (run, seq, last, body)
    SELECT id, page_from, seq, page FROM line WHERE page IS NOT NULL)
SELECT array_agg(id), penstock_now() FROM done;

-- name: insert_start_key
INSERT INTO start_key (run, workflow, key, digest)
SELECT * FROM unnest(:run::text[], :workflow::text[], :key::text[], :digest::bytea[]) AS x (run, workflow, key, digest)
 ORDER BY x.workflow, x.key
ON CONFLICT (workflow, key) DO NOTHING
RETURNING run;

-- name: put_part
INSERT INTO part (run, kind, firing, idx, body)
SELECT * FROM unnest(:run::text[], :kind::text[], :firing::bigint[], :idx::bigint[], :body::bytea[])
ON CONFLICT (run, kind, firing, idx) DO UPDATE SET body = excluded.body;

-- name: drop_part
DELETE FROM part
 USING unnest(:run::text[], :kind::text[], :firing::bigint[], :idx::bigint[]) AS x (run, kind, firing, idx)
 WHERE part.run = x.run AND part.kind = x.kind AND part.firing = x.firing AND part.idx = x.idx;

-- name: insert_payload
INSERT INTO payload (run, digest, body)
SELECT * FROM unnest(:run::text[], :digest::bytea[], :body::bytea[])
ON CONFLICT (run, digest) DO NOTHING;

-- name: insert_labels
INSERT INTO run_label (name, value, started_at, run)
SELECT label.key, label.value, started_at, id FROM run, jsonb_each_text(labels) AS label WHERE id = ANY(:runs::text[]);

-- name: insert_run_key
INSERT INTO run_key (run, name, value, started_at)
SELECT x.run, x.name, x.value, run.started_at
  FROM unnest(:run::text[], :name::text[], :value::text[]) AS x (run, name, value) JOIN run ON run.id = x.run
ON CONFLICT DO NOTHING;

-- name: drop_rest
DELETE FROM rest WHERE run = ANY(:runs::text[]);

-- name: insert_rest
INSERT INTO rest (run, kind, name, since, started_at)
SELECT x.run, x.kind, x.name, :now::timestamptz, run.started_at
  FROM unnest(:run::text[], :kind::text[], :name::text[]) AS x (run, kind, name) JOIN run ON run.id = x.run
ON CONFLICT DO NOTHING;

-- name: insert_timer
INSERT INTO timer (run, due, body, ready_at)
SELECT run, due, body, due
  FROM unnest(:run::text[], :due::timestamptz[], :body::bytea[]) WITH ORDINALITY AS x (run, due, body, ord)
 ORDER BY ord;

-- name: use_timer
DELETE FROM timer WHERE id = ANY(:ids::bigint[]) RETURNING id;

-- name: drop_rest_of_run
-- All that a run leaves behind but its keys: those are answered, for others wait for them. And its messages: a node
-- reads and discards them.
WITH tasks AS (DELETE FROM task WHERE run = ANY(:runs::text[])),
     timers AS (DELETE FROM timer WHERE run = ANY(:runs::text[]))
SELECT key AS name, NULL AS value FROM lock WHERE run = ANY(:runs::text[])
UNION ALL
SELECT name, value FROM correlation WHERE run = ANY(:runs::text[]);

-- name: load_run
SELECT id, revision, header, head FROM run WHERE id = ANY(:runs::text[]);

-- name: load_parts
SELECT run, kind, firing, idx, body FROM part WHERE run = ANY(:runs::text[]) ORDER BY run, kind, firing, idx;

-- name: load_payload
SELECT payload.run, payload.digest, body FROM payload
  JOIN unnest(:run::text[], :digest::bytea[]) AS x (run, digest) ON payload.run = x.run AND payload.digest = x.digest;

-- name: load_pages
-- From the page that holds entry :after + 1 on.
SELECT seq, last, body FROM history
 WHERE run = :run::text AND last > :after::bigint
   AND seq >= COALESCE((SELECT max(seq) FROM history WHERE run = :run AND seq <= :after + 1), 0)
   AND seq <= :after + :limit::bigint
 ORDER BY seq;

-- name: due_timers
WITH x AS MATERIALIZED (SELECT id, ready_at AS was FROM timer WHERE ready_at <= :now::timestamptz
                         ORDER BY ready_at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED)
UPDATE timer SET ready_at = :until::timestamptz FROM x WHERE timer.id = x.id
RETURNING timer.id, timer.run, timer.body, timer.due, x.was;

-- name: next_due
-- The earliest time at which something more falls due, and the time.
SELECT LEAST((SELECT min(ready_at) FROM timer), (SELECT min(ready_at) FROM message),
             (SELECT min(expires) FROM task WHERE expires < 'infinity')), penstock_now() AS now;

-- name: read_now
SELECT penstock_now();

-- name: run_revision
SELECT id, revision FROM run WHERE id = ANY(:runs::text[]);

-- name: start_key_there
SELECT start_key.workflow, start_key.key FROM start_key
  JOIN unnest(:workflow::text[], :key::text[]) AS x (workflow, key)
    ON start_key.workflow = x.workflow AND start_key.key = x.key;

-- name: timer_there
SELECT id FROM timer WHERE id = ANY(:ids::bigint[]);
