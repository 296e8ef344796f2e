-- Lists of runs are put together in `store/sql/run_lists.py`.

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
-- Of one run, for it may have very many: each is asked for by itself.
SELECT run, firing, idx, attempt, queued_at, started_at FROM timing WHERE run = :run
 ORDER BY firing, idx, attempt LIMIT :limit;

-- name: timings_of_firings
-- Of an `each` with very many elements none is read.
SELECT run, firing, idx, attempt, queued_at, started_at FROM timing
 WHERE run = :run AND firing IN (SELECT value FROM json_each(:firings)) AND idx = -1 ORDER BY firing, attempt;

-- name: tally_workflows
SELECT workflow, 0, count(*) FROM run WHERE workflow IN (SELECT value FROM json_each(:names)) GROUP BY workflow;

-- name: tally_others
-- All but those that went well: of these there may be a million.
SELECT workflow, 0, status, count(*) FROM run
 WHERE status IN ('running', 'waiting', 'paused', 'stalled', 'failed', 'canceled', 'timed_out')
   AND +workflow IN (SELECT value FROM json_each(:names))
 GROUP BY workflow, status;

-- name: tally_versions
-- From the index alone, and so the next one: who went well is whoever is left.
SELECT workflow, version, count(*) FROM run INDEXED BY run_by_version
 WHERE workflow = :workflow AND started_at >= :since AND started_at < :until GROUP BY workflow, version;

-- name: tally_trouble
SELECT workflow, version, status, count(*) FROM run INDEXED BY run_by_trouble
 WHERE workflow = :workflow AND status NOT IN ('running', 'succeeded') AND started_at >= :since AND started_at < :until
 GROUP BY workflow, version, status;

-- name: tally_running
SELECT workflow, version, status, count(*) FROM run INDEXED BY run_by_status
 WHERE status = 'running' AND workflow = :workflow AND started_at >= :since AND started_at < :until GROUP BY workflow, version, status;

-- name: tally_endings
SELECT workflow, status, count(*), (ended_at - :since) / :width FROM run INDEXED BY run_by_end
 WHERE status IN ('succeeded', 'failed', 'canceled', 'timed_out') AND ended_at >= :since AND ended_at < :until
 GROUP BY 1, 2, 4;

-- name: list_queues
-- Each number from an index: among a million tasks that wait no row is read. The oldest of a list is the first in line of
-- some priority, so one row of each priority is looked at.
WITH RECURSIVE list (name) AS (
  SELECT min(task_list) FROM task WHERE worker IS NULL AND held = 0
   UNION ALL
  SELECT (SELECT min(task_list) FROM task WHERE worker IS NULL AND held = 0 AND task_list > list.name)
    FROM list WHERE name IS NOT NULL),
level (name, priority) AS (
  SELECT name, (SELECT max(priority) FROM task WHERE worker IS NULL AND held = 0 AND task_list = list.name)
    FROM list WHERE name IS NOT NULL
   UNION ALL
  SELECT name, (SELECT max(priority) FROM task
                 WHERE worker IS NULL AND held = 0 AND task_list = level.name AND priority < level.priority)
    FROM level WHERE priority IS NOT NULL),
part (name, ready, held, leased, oldest) AS (
  SELECT task_list, count(*), 0, 0, NULL FROM task INDEXED BY task_ready WHERE worker IS NULL AND held = 0 GROUP BY task_list
   UNION ALL
  SELECT task_list, 0, count(*), 0, NULL FROM task INDEXED BY task_held WHERE worker IS NULL AND held = 1 GROUP BY task_list
   UNION ALL
  SELECT task_list, 0, 0, count(*), NULL FROM task INDEXED BY task_by_expiry
   WHERE expires < :never AND worker IS NOT NULL GROUP BY task_list
   UNION ALL
  SELECT name, 0, 0, 0, (SELECT queued_at FROM task
                          WHERE worker IS NULL AND held = 0 AND task_list = level.name AND priority = level.priority
                          ORDER BY turn LIMIT 1)
    FROM level WHERE priority IS NOT NULL)
SELECT name, sum(ready), sum(held), sum(leased), min(oldest) FROM part GROUP BY name ORDER BY name;

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
