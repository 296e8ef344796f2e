-- name: outdated_runs
SELECT id FROM run WHERE status = :status AND ended_at IS NOT NULL AND ended_at <= :before
   AND workflow NOT IN (SELECT value FROM json_each(:others)) ORDER BY ended_at LIMIT :limit;

-- name: outdated_runs_of_workflow
-- What ended before then began before then: the index has the one, and not the other.
SELECT id FROM run WHERE workflow = :workflow AND started_at <= :began AND ended_at <= :before LIMIT :limit;

-- name: drop_runs
DELETE FROM run WHERE id IN (SELECT value FROM json_each(:runs));

-- name: drop_history_of_runs
DELETE FROM history WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_parts_of_runs
DELETE FROM part WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_payloads_of_runs
DELETE FROM payload WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_logs_of_runs
DELETE FROM log WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_seen_of_runs
DELETE FROM seen WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_start_keys_of_runs
DELETE FROM start_key WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_labels_of_runs
DELETE FROM run_label WHERE (name, value, started_at, run) IN (
    SELECT label.key, label.value, run.started_at, run.id FROM json_each(:runs) AS old CROSS JOIN run, json_each(labels) AS label
     WHERE run.id = old.value);

-- name: drop_run_keys_of_runs
DELETE FROM run_key WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_rests_of_runs
DELETE FROM rest WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_approvals_of_runs
DELETE FROM approval WHERE run IN (SELECT value FROM json_each(:runs));

-- name: drop_timings_of_runs
DELETE FROM timing WHERE run IN (SELECT value FROM json_each(:runs));

-- name: outdated_kept
SELECT id FROM kept WHERE until <= :now ORDER BY until LIMIT :limit;

-- name: drop_outdated_seen
DELETE FROM seen WHERE (scope, id) IN (SELECT scope, id FROM seen WHERE run IS NULL AND until <= :now LIMIT :limit);

-- name: drop_gone_workers
DELETE FROM worker WHERE seen_at <= :before;

-- name: put_worker
INSERT INTO worker (id, name, task_lists, tasks, concurrency, started_at, seen_at)
VALUES (:id, :name, :task_lists, :tasks, :concurrency, :started_at, :seen_at)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, task_lists = excluded.task_lists, tasks = excluded.tasks,
       concurrency = excluded.concurrency, seen_at = excluded.seen_at;

-- name: drop_worker
DELETE FROM worker WHERE id = :id;

-- name: gaps_in_history
-- Pages must follow one another without a gap, from entry 1 to the one that the run says.
SELECT run, seq, before FROM (SELECT run, seq, lag(last, 1, 0) OVER (PARTITION BY run ORDER BY seq) AS before FROM history)
 WHERE seq <> before + 1 LIMIT 20;

-- name: wrong_ends_of_history
SELECT run.id, run.seq, COALESCE(max(history.last), 0) AS last FROM run LEFT JOIN history ON history.run = run.id
 GROUP BY run.id HAVING last <> run.seq LIMIT 20;

-- name: tasks_without_run
SELECT task.run, task.firing, task.idx FROM task LEFT JOIN run ON run.id = task.run
 WHERE run.id IS NULL OR run.ended_at IS NOT NULL LIMIT 20;

-- name: orphans
SELECT DISTINCT 'history', run FROM history WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = history.run)
UNION SELECT 'part', run FROM part WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = part.run)
UNION SELECT 'payload', run FROM payload WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = payload.run)
UNION SELECT 'timer', run FROM timer WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = timer.run)
UNION SELECT 'lock', run FROM lock WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = lock.run)
UNION SELECT 'correlation', run FROM correlation WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = correlation.run)
UNION SELECT 'run_label', run FROM run_label WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = run_label.run)
UNION SELECT 'run_key', run FROM run_key WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = run_key.run)
UNION SELECT 'approval', run FROM approval WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = approval.run)
UNION SELECT 'timing', run FROM timing WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = timing.run)
UNION SELECT 'rest', run FROM rest WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = rest.run)
UNION SELECT 'start_key', run FROM start_key WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = start_key.run)
LIMIT 20;

-- name: stuck_runs
-- Running, with nothing that could ever move it on: a held task does not. Those that wait, are paused or stalled are at
-- rest.
SELECT id FROM run WHERE status = 'running'
   AND NOT EXISTS (SELECT 1 FROM task WHERE task.run = run.id AND NOT held)
   AND NOT EXISTS (SELECT 1 FROM timer WHERE timer.run = run.id)
   AND NOT EXISTS (SELECT 1 FROM message WHERE message.run = run.id)
   AND NOT EXISTS (SELECT 1 FROM lock WHERE lock.run = run.id)
   AND NOT EXISTS (SELECT 1 FROM run AS child WHERE child.parent = run.id AND child.ended_at IS NULL)
 LIMIT :limit;

-- name: overheld_locks
SELECT key, count(*), max(most) FROM lock WHERE held = 1 GROUP BY key HAVING count(*) > max(most) LIMIT 20;

-- name: idle_locks
-- A key that nobody holds although somebody waits for it.
SELECT key FROM lock GROUP BY key HAVING sum(held) = 0 LIMIT 20;

-- name: locks_of_ended_runs
-- Nobody will give them back, and who waits behind waits for ever.
SELECT lock.key, lock.run, lock.firing, lock.idx FROM lock JOIN run ON run.id = lock.run
 WHERE run.ended_at IS NOT NULL LIMIT 20;

-- name: wrongly_held_tasks
-- Only the end of a pause frees a held task: without a pause nobody will ever get it.
SELECT task.run, task.firing, task.idx FROM task JOIN run ON run.id = task.run
 WHERE task.held AND run.ended_at IS NULL AND run.status <> 'paused' LIMIT 20;

-- name: highest_number
SELECT max(n) FROM (SELECT max(id) AS n FROM timer UNION ALL SELECT max(id) FROM message
  UNION ALL SELECT max(id) FROM kept UNION ALL SELECT max(id) FROM log UNION ALL SELECT max(turn) FROM task
  UNION ALL SELECT max(number) FROM lock UNION ALL SELECT max(number) FROM correlation
  UNION ALL SELECT max(version) FROM token UNION ALL SELECT max(id) FROM outbox);
