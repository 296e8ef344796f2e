-- name: insert_task
-- What the attempts of a kind have in common comes once, before the rows.
INSERT INTO task (fence, task, task_list, priority, queued_at, started_at, worker, beat, start_within, run_for, end_within,
                  start_by, stop_by, end_by, lease_until, expires, held, step, run, firing, idx, attempt, turn)
SELECT :fence, :task, :task_list, :priority, :queued_at, :started_at, :worker, :beat, :start_within, :run_for, :end_within,
       :start_by, :stop_by, :end_by, :lease_until, :expires, :held, :step, column1, column2, column3, column4, column5
  FROM (VALUES (:run, :firing, :idx, :attempt, :turn))
 WHERE column1 IS NOT NULL;

-- name: end_task
-- Only with the attempt and the fence of the row: a worker that was given up changes nothing.
DELETE FROM task
 WHERE (run, firing, idx, attempt, fence) IN (VALUES (:run, :firing, :idx, :attempt, :fence));

-- name: void_task
DELETE FROM task WHERE run = :run AND firing = :firing AND idx = :idx;

-- name: task_there
SELECT 1 FROM task WHERE run = :run AND firing = :firing AND idx = :idx AND attempt = :attempt AND fence = :fence;

-- name: hold_tasks
UPDATE task SET held = 1, expires = :never WHERE run = :run AND worker IS NULL;

-- name: free_tasks
-- Their clocks start anew: a pause costs a task nothing.
UPDATE task SET held = 0,
       start_by = COALESCE(:now + start_within, :never),
       end_by = COALESCE(:now + end_within, :never),
       expires = min(COALESCE(:now + start_within, :never), COALESCE(:now + end_within, :never))
 WHERE run = :run AND held = 1;

-- name: ready_tasks
-- The first of one list. One whose time to start is over is left for `due`, also while a node has it in hand.
SELECT priority, turn, run, firing, idx, attempt, fence, task, task_list, beat, run_for, end_by FROM task
 WHERE task_list = :task_list AND worker IS NULL AND held = 0 AND start_by > :now AND end_by > :now
 ORDER BY priority DESC, turn LIMIT :limit;

-- name: ready_named_tasks
SELECT priority, turn, run, firing, idx, attempt, fence, task, task_list, beat, run_for, end_by FROM task
 WHERE task_list = :task_list AND worker IS NULL AND held = 0 AND start_by > :now AND end_by > :now
   AND task IN (SELECT value FROM json_each(:tasks))
 ORDER BY priority DESC, turn LIMIT :limit;

-- name: lease_task
UPDATE task SET worker = :worker, fence = :fence, started_at = :now, lease_until = :until, stop_by = :stop_by,
       expires = :expires, progress = NULL
 WHERE run = :run AND firing = :firing AND idx = :idx;

-- name: insert_timing
INSERT INTO timing (run, firing, idx, attempt, queued_at, started_at)
SELECT run, firing, idx, attempt, queued_at, started_at FROM task WHERE run = :run AND firing = :firing AND idx = :idx
ON CONFLICT (run, firing, idx, attempt) DO UPDATE SET started_at = excluded.started_at;

-- name: renew_task
-- A lease that ran out may be in hand as lost: it is not prolonged.
UPDATE task SET lease_until = :now + beat, expires = min(:now + beat, stop_by, end_by),
       progress = COALESCE(:progress, progress)
 WHERE run = :run AND firing = :firing AND idx = :idx AND attempt = :attempt AND fence = :fence AND worker IS NOT NULL
   AND lease_until > :now
RETURNING expires, min(stop_by, end_by);

-- name: release_task
-- Before all others of its list, with all its time to start: to give back costs nothing. The task of a run that was
-- paused meanwhile is held like the rest of it.
UPDATE task SET worker = NULL, started_at = NULL, progress = NULL, lease_until = :never, stop_by = :never,
       start_by = COALESCE(:now + start_within, :never),
       turn = CASE WHEN turn > 0 THEN turn - :never ELSE turn END,
       held = EXISTS (SELECT 1 FROM run WHERE id = task.run AND status = 'paused'),
       expires = CASE WHEN EXISTS (SELECT 1 FROM run WHERE id = task.run AND status = 'paused') THEN :never
                      ELSE min(COALESCE(:now + start_within, :never), end_by) END
 WHERE run = :run AND firing = :firing AND idx = :idx AND attempt = :attempt AND fence = :fence AND worker IS NOT NULL
   AND lease_until > :now
RETURNING 1;

-- name: give_up_tasks
-- What is leased expires at some time, so that it is found among a million tasks that wait.
UPDATE task SET lease_until = :now, expires = :now
 WHERE expires < :never AND worker IS NOT NULL AND substr(worker, 1, length(:prefix)) = :prefix AND lease_until > :now;

-- name: expired_tasks
SELECT run, firing, idx, attempt, fence, worker IS NOT NULL, lease_until, stop_by, start_by, end_by FROM task
 WHERE expires <= :now ORDER BY expires LIMIT :limit;

-- name: take_task
UPDATE task SET expires = :until WHERE run = :run AND firing = :firing AND idx = :idx;

-- name: insert_log
INSERT INTO log (id, run, at, body) VALUES (:id, :run, :at, :body);
