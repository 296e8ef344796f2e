-- Lists of runs are put together in `store/listing.py`.

-- name: next_workflow
-- The next workflow that has runs: from one to the next without a look at those between.
SELECT workflow FROM run INDEXED BY run_by_version WHERE workflow > :workflow ORDER BY workflow LIMIT 1;

-- name: next_version
SELECT version FROM run INDEXED BY run_by_version WHERE workflow = :workflow AND version > :version
 ORDER BY version LIMIT 1;

-- name: count_all_runs
-- From the index alone.
SELECT status, count(*) FROM run GROUP BY status;

-- name: tasks_of_run
SELECT run, firing, idx, attempt, fence, task, task_list, worker, held, queued_at, started_at, progress FROM task
 WHERE run = :run ORDER BY firing, idx;

-- name: timers_of_run
SELECT due, body FROM timer WHERE run = :run ORDER BY due, id;

-- name: locks_of_run
SELECT firing, idx, key, held,
       (SELECT count(*) FROM lock AS x WHERE x.key = lock.key AND x.held = 0 AND x.number < lock.number),
       (SELECT json_group_array(DISTINCT x.run) FROM lock AS x WHERE x.key = lock.key AND x.held = 1)
  FROM lock WHERE run = :run ORDER BY firing, idx, key;

-- name: old_tasks
SELECT task.run, run.workflow, run.version, task.step, task.task, task.task_list, task.worker, task.queued_at, task.started_at
  FROM task JOIN run ON run.id = task.run ORDER BY task.queued_at, task.run, task.firing, task.idx LIMIT :limit;

-- name: waiting_tasks
SELECT task_list, task, count(*), min(queued_at) FROM task WHERE worker IS NULL AND held = 0
 GROUP BY task_list, task ORDER BY task_list, task;

-- name: timings_of_runs
SELECT run, firing, idx, attempt, queued_at, started_at FROM timing WHERE run IN (SELECT value FROM json_each(:runs))
 ORDER BY run, firing, idx, attempt;

-- name: tally_versions
-- From the index alone, and so the next one: who went well is whoever is left.
SELECT version, count(*) FROM run INDEXED BY run_by_version
 WHERE workflow = :workflow AND started_at >= :since AND started_at < :until GROUP BY version;

-- name: tally_trouble
SELECT version, status, count(*) FROM run INDEXED BY run_by_trouble
 WHERE workflow = :workflow AND status NOT IN ('running', 'succeeded') AND started_at >= :since AND started_at < :until
 GROUP BY version, status;

-- name: tally_running
SELECT version, count(*) FROM run INDEXED BY run_by_status
 WHERE status = 'running' AND workflow = :workflow AND started_at >= :since AND started_at < :until GROUP BY version;

-- name: list_queues
SELECT task_list, count(*) FILTER (WHERE worker IS NULL AND held = 0), count(*) FILTER (WHERE worker IS NULL AND held = 1),
       count(worker), min(queued_at) FILTER (WHERE worker IS NULL AND held = 0)
  FROM task GROUP BY task_list ORDER BY task_list;

-- name: list_workers
SELECT id, name, task_lists, tasks, concurrency, started_at, seen_at FROM worker
 WHERE seen_at > :since ORDER BY started_at, id;

-- name: list_kept
SELECT id, event, body, reason, at, until FROM kept WHERE id > :after AND until > :now ORDER BY id LIMIT :limit;

-- name: list_refused
SELECT late.name, late.value, late.run, first.run
  FROM correlation AS late JOIN correlation AS first ON first.name = late.name AND first.value = late.value
 WHERE first.number = (SELECT min(number) FROM correlation WHERE name = late.name AND value = late.value)
   AND late.number > first.number
 ORDER BY late.name, late.value, late.number LIMIT :limit;

-- name: list_logs
SELECT id, body FROM log WHERE run = :run AND id > :after ORDER BY id LIMIT :limit;

-- name: start_key_run
SELECT run, digest FROM start_key WHERE workflow = :workflow AND key = :key;
