-- part: timed
timed AS (INSERT INTO timing (run, firing, idx, attempt, queued_at, started_at)
                SELECT run, firing, idx, attempt, queued_at, started_at FROM leased
                ON CONFLICT (run, firing, idx, attempt) DO UPDATE SET started_at = excluded.started_at)

-- name: end_task
-- Only with the attempt and the fence of the row: a worker that was given up changes nothing.
WITH asked AS (
    SELECT run, firing::bigint, idx::bigint, attempt::integer, fence::bigint
      FROM ROWS FROM (json_array_elements_text(:run::json), json_array_elements_text(:firing::json),
                      json_array_elements_text(:idx::json), json_array_elements_text(:attempt::json),
                      json_array_elements_text(:fence::json)) AS x (run, firing, idx, attempt, fence)),
done AS (
    DELETE FROM task USING asked AS x
     WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx AND task.attempt = x.attempt
       AND task.fence = x.fence
    RETURNING 1)
SELECT count(*) FROM done;

-- name: void_task
DELETE FROM task USING unnest(:run::text[], :firing::bigint[], :idx::bigint[]) AS x (run, firing, idx)
 WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx;

-- name: hold_tasks
UPDATE task SET held = true, expires = 'infinity' WHERE run = ANY(:runs::text[]) AND worker IS NULL;

-- name: free_tasks
-- Their clocks start anew: a pause costs a task nothing.
UPDATE task SET held = false,
       start_by = COALESCE(:now::timestamptz + start_within, 'infinity'),
       end_by = COALESCE(:now::timestamptz + end_within, 'infinity'),
       expires = LEAST(COALESCE(:now::timestamptz + start_within, 'infinity'), COALESCE(:now::timestamptz + end_within, 'infinity'))
 WHERE run = ANY(:runs::text[]) AND held;

-- name: lease_tasks
-- The first of one list. Rows that another caller is taking are passed over, not waited for.
-- One whose time to start is over is left for `due`, also while a node has it in hand.
WITH x AS MATERIALIZED (
  SELECT first.*, line.now
    FROM (SELECT DISTINCT task_list, now.now FROM unnest(:task_lists::text[]) AS task_list,
                 (SELECT penstock_now() AS now OFFSET 0) AS now) AS line,
         LATERAL (SELECT run, firing, idx, priority, turn FROM task
                   WHERE task_list = line.task_list AND worker IS NULL AND NOT held
                     AND start_by > line.now AND end_by > line.now
                     AND (:tasks::text[] IS NULL OR task = ANY(:tasks))
                   ORDER BY priority DESC, turn LIMIT :limit::bigint FOR UPDATE SKIP LOCKED) AS first
   ORDER BY first.priority DESC, first.turn LIMIT :limit),
     leased AS (
UPDATE task SET worker = :worker::text, fence = fence + 1, started_at = x.now, lease_until = x.now + beat,
       stop_by = COALESCE(x.now + run_for, 'infinity'),
       expires = LEAST(x.now + beat, x.now + run_for, end_by), progress = NULL
  FROM x
 WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx
RETURNING task.run, task.firing, task.idx, attempt, fence, task, task_list, expires,
          NULLIF(LEAST(stop_by, end_by), 'infinity') AS deadline, task.priority, task.turn, queued_at, started_at),
     -- use: timed
SELECT * FROM leased;

-- name: lease_from_lists
-- The first of each list, then the first of these. Rows that another caller is taking are passed over, not waited for:
-- more of each list than are wanted are looked at, but only those that are wanted are locked, so that callers at the
-- same moment do not take the rest from one another.
-- One whose time to start is over is left for `due`, also while a node has it in hand.
WITH x AS MATERIALIZED (
  SELECT free.run, free.firing, free.idx, first.now
    FROM (SELECT ready.*, line.now
            FROM (SELECT DISTINCT task_list, now.now FROM unnest(:task_lists::text[]) AS task_list,
                         (SELECT penstock_now() AS now OFFSET 0) AS now) AS line,
                 LATERAL (SELECT run, firing, idx, priority, turn FROM task
                           WHERE task_list = line.task_list AND worker IS NULL AND NOT held
                             AND start_by > line.now AND end_by > line.now
                             AND (:tasks::text[] IS NULL OR task = ANY(:tasks))
                           ORDER BY priority DESC, turn LIMIT :limit::bigint * 4 + 100) AS ready
           ORDER BY ready.priority DESC, ready.turn LIMIT :limit * 4 + 100) AS first
    JOIN task AS free ON free.run = first.run AND free.firing = first.firing AND free.idx = first.idx
   WHERE free.worker IS NULL AND NOT free.held
   ORDER BY first.priority DESC, first.turn LIMIT :limit FOR UPDATE OF free SKIP LOCKED),
     leased AS (
UPDATE task SET worker = :worker::text, fence = fence + 1, started_at = x.now, lease_until = x.now + beat,
       stop_by = COALESCE(x.now + run_for, 'infinity'),
       expires = LEAST(x.now + beat, x.now + run_for, end_by), progress = NULL
  FROM x
 WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx
RETURNING task.run, task.firing, task.idx, attempt, fence, task, task_list, expires,
          NULLIF(LEAST(stop_by, end_by), 'infinity') AS deadline, task.priority, task.turn, queued_at, started_at),
     -- use: timed
SELECT * FROM leased;

-- name: renew_task
-- All leases of a worker in one statement. Locked in one order, so that two callers do not wait for each other.
-- A lease that ran out may be in hand as lost: it is not prolonged.
WITH line AS MATERIALIZED (
    SELECT x.ord, x.progress, task.run, task.firing, task.idx FROM task
      JOIN unnest(:run::text[], :firing::bigint[], :idx::bigint[], :attempt::integer[], :fence::bigint[],
                  :progress::bytea[]) WITH ORDINALITY AS x (run, firing, idx, attempt, fence, progress, ord)
        ON task.run = x.run AND task.firing = x.firing AND task.idx = x.idx AND task.attempt = x.attempt
       AND task.fence = x.fence
     WHERE worker IS NOT NULL AND lease_until > penstock_now() ORDER BY task.run, task.firing, task.idx FOR UPDATE OF task)
UPDATE task SET lease_until = now.now + beat, expires = LEAST(now.now + beat, stop_by, end_by),
       progress = COALESCE(line.progress, task.progress)
  FROM line, (SELECT penstock_now() AS now OFFSET 0) AS now
 WHERE task.run = line.run AND task.firing = line.firing AND task.idx = line.idx
RETURNING line.ord, expires, NULLIF(LEAST(stop_by, end_by), 'infinity') AS deadline;

-- name: lock_runs
-- Before a task is given back: a pause or its end that is written at the same time would not see that it is free again,
-- and it would be held for ever, or handed out in a paused run.
SELECT id FROM run WHERE id = ANY(:runs::text[]) ORDER BY id FOR SHARE;

-- name: give_up_tasks
UPDATE task SET lease_until = penstock_now(), expires = penstock_now()
 WHERE expires < 'infinity' AND worker IS NOT NULL AND starts_with(worker, :prefix::text) AND lease_until > penstock_now();

-- name: release_task
-- Before all others of its list, with all its time to start: to give back costs nothing. The task of a run that was
-- paused meanwhile is held like the rest of it.
UPDATE task SET worker = NULL, started_at = NULL, progress = NULL, lease_until = 'infinity', stop_by = 'infinity',
       turn = CASE WHEN turn > 0 THEN turn - 9000000000000000000 ELSE turn END,
       start_by = COALESCE(now.now + start_within, 'infinity'),
       held = x.paused, expires = CASE WHEN x.paused THEN 'infinity' ELSE LEAST(now.now + start_within, end_by) END
  FROM (SELECT penstock_now() AS now OFFSET 0) AS now,
       (SELECT y.*, EXISTS (SELECT 1 FROM run WHERE id = y.run AND status = 'paused') AS paused
          FROM unnest(:run::text[], :firing::bigint[], :idx::bigint[], :attempt::integer[], :fence::bigint[])
               WITH ORDINALITY AS y (run, firing, idx, attempt, fence, ord)) AS x
 WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx AND task.attempt = x.attempt
   AND task.fence = x.fence AND worker IS NOT NULL AND lease_until > now.now
RETURNING x.ord;

-- name: expired_tasks
-- Told is the limit whose time came first, however late it is found.
WITH x AS MATERIALIZED (SELECT run, firing, idx, expires AS was FROM task
                         WHERE expires <= :now::timestamptz AND expires < 'infinity'
                         ORDER BY expires LIMIT :limit::bigint FOR UPDATE SKIP LOCKED)
UPDATE task SET expires = :until::timestamptz FROM x
 WHERE task.run = x.run AND task.firing = x.firing AND task.idx = x.idx
RETURNING task.run, task.firing, task.idx, attempt, fence, x.was,
          CASE WHEN worker IS NULL AND start_by <= end_by THEN 'schedule_to_start'
               WHEN worker IS NULL THEN 'schedule_to_close'
               WHEN lease_until <= LEAST(stop_by, end_by) THEN 'lost'
               WHEN stop_by <= end_by THEN 'start_to_close'
               ELSE 'schedule_to_close' END AS struck;

-- name: insert_log
INSERT INTO log (run, at, body)
SELECT run, at, body
  FROM unnest(:run::text[], :at::timestamptz[], :body::bytea[]) WITH ORDINALITY AS x (run, at, body, ord)
 ORDER BY ord;

-- name: task_there
SELECT task.run, task.firing, task.idx, task.attempt, task.fence FROM task
  JOIN unnest(:run::text[], :firing::bigint[], :idx::bigint[], :attempt::integer[], :fence::bigint[])
       AS x (run, firing, idx, attempt, fence)
    ON task.run = x.run AND task.firing = x.firing AND task.idx = x.idx AND task.attempt = x.attempt
   AND task.fence = x.fence;
