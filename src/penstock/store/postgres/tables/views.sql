-- Lists of runs are put together in `store/sql/run_lists.py`.

-- name: workflows_of_runs
-- From one to the next without a look at the runs between.
WITH RECURSIVE known AS (
    (SELECT workflow FROM run ORDER BY workflow LIMIT 1)
    UNION ALL
    SELECT after.workflow FROM known,
           LATERAL (SELECT workflow FROM run WHERE run.workflow > known.workflow ORDER BY workflow LIMIT 1) AS after)
SELECT workflow FROM known;

-- name: versions_of_runs
WITH RECURSIVE known AS (
    SELECT name AS workflow, -1 AS version FROM unnest(:names::text[]) AS name
    UNION ALL
    SELECT known.workflow, after.version FROM known,
           LATERAL (SELECT version FROM run WHERE run.workflow = known.workflow AND run.version > known.version
                     ORDER BY version LIMIT 1) AS after)
SELECT workflow, version FROM known WHERE version >= 0;

-- name: count_all_runs
-- From the index alone.
SELECT status, count(*) FROM run GROUP BY status;

-- name: tasks_of_run
SELECT run, firing, idx, attempt, fence, task, task_list, worker, held, queued_at, started_at, progress FROM task
 WHERE run = :run::text ORDER BY firing, idx;

-- name: timers_of_run
SELECT due, body FROM timer WHERE run = :run::text ORDER BY due, id;

-- name: locks_of_run
SELECT firing, idx AS index, key, held,
       (SELECT count(*) FROM lock AS x WHERE x.key = lock.key AND NOT x.held AND x.number < lock.number) AS ahead,
       ARRAY(SELECT DISTINCT x.run FROM lock AS x WHERE x.key = lock.key AND x.held ORDER BY 1) AS holders
  FROM lock WHERE run = :run::text ORDER BY firing, idx, key;

-- name: old_tasks
SELECT task.run, run.workflow, run.version, task.step, task.task, task.task_list, task.worker, task.queued_at, task.started_at
  FROM task JOIN run ON run.id = task.run
 ORDER BY task.queued_at, task.run, task.firing, task.idx LIMIT :limit::bigint;

-- name: waiting_tasks
SELECT task_list, task, count(*) AS count, min(queued_at) AS oldest FROM task WHERE worker IS NULL AND NOT held
 GROUP BY task_list, task ORDER BY task_list, task;

-- name: timings_of_runs
-- A run may have very many.
SELECT first.* FROM unnest(:runs::text[]) AS x (run),
       LATERAL (SELECT run, firing, idx, attempt, queued_at, started_at FROM timing WHERE timing.run = x.run
                 ORDER BY run, firing, idx, attempt LIMIT :limit::bigint) AS first
 ORDER BY run, firing, idx, attempt;

-- name: timings_of_firings
-- Of an `each` with very many elements none is read.
SELECT run, firing, idx, attempt, queued_at, started_at FROM timing
 WHERE run = :run::text AND firing = ANY(:firings::bigint[]) AND idx = -1 ORDER BY firing, attempt;

-- name: tally_workflows
SELECT workflow, 0, count(*) FROM run WHERE workflow = ANY(:workflows::text[]) GROUP BY workflow;

-- name: tally_others
-- All but those that went well: of these there may be a million.
SELECT workflow, 0, status, count(*) FROM run
 WHERE status IN ('running', 'waiting', 'paused', 'stalled', 'failed', 'canceled', 'timed_out')
   AND workflow = ANY(:workflows::text[])
 GROUP BY workflow, status;

-- name: tally_versions
-- From the index alone, and so the next one: who went well is whoever is left.
SELECT workflow, version, count(*) FROM run
 WHERE workflow = :workflow::text AND started_at >= :since::timestamptz AND started_at < :until::timestamptz GROUP BY workflow, version;

-- name: tally_trouble
SELECT workflow, version, status, count(*) FROM run
 WHERE workflow = :workflow::text AND status NOT IN ('running', 'succeeded')
   AND started_at >= :since::timestamptz AND started_at < :until::timestamptz
 GROUP BY workflow, version, status;

-- name: tally_running
SELECT workflow, version, status, count(*) FROM run
 WHERE status = 'running' AND workflow = :workflow::text
   AND started_at >= :since::timestamptz AND started_at < :until::timestamptz GROUP BY workflow, version, status;

-- name: tally_endings
SELECT workflow, status, count(*),
       floor(extract(epoch FROM ended_at - :since::timestamptz) / extract(epoch FROM :width::interval))::int FROM run
 WHERE status IN ('succeeded', 'failed', 'canceled', 'timed_out')
   AND ended_at >= :since::timestamptz AND ended_at < :until::timestamptz GROUP BY 1, 2, 4;

-- name: list_queues
-- Each number from an index: among a million tasks that wait hardly a row is read. The oldest of a list is the first in line
-- of some priority, so one row of each priority is looked at.
WITH RECURSIVE list (name) AS (
  SELECT min(task_list) FROM task WHERE worker IS NULL AND NOT held
   UNION ALL
  SELECT (SELECT min(task_list) FROM task WHERE worker IS NULL AND NOT held AND task_list > list.name)
    FROM list WHERE name IS NOT NULL),
level (name, priority) AS (
  SELECT name, (SELECT max(priority) FROM task WHERE worker IS NULL AND NOT held AND task_list = list.name)
    FROM list WHERE name IS NOT NULL
   UNION ALL
  SELECT name, (SELECT max(priority) FROM task
                 WHERE worker IS NULL AND NOT held AND task_list = level.name AND priority < level.priority)
    FROM level WHERE priority IS NOT NULL),
part (name, ready, held, leased, oldest) AS (
  SELECT task_list, count(*), 0, 0, NULL::timestamptz FROM task WHERE worker IS NULL AND NOT held GROUP BY task_list
   UNION ALL
  SELECT task_list, 0, count(*), 0, NULL FROM task WHERE worker IS NULL AND held GROUP BY task_list
   UNION ALL
  SELECT task_list, 0, 0, count(*), NULL FROM task WHERE expires < 'infinity' AND worker IS NOT NULL GROUP BY task_list
   UNION ALL
  SELECT name, 0, 0, 0, (SELECT queued_at FROM task
                          WHERE worker IS NULL AND NOT held AND task_list = level.name AND priority = level.priority
                          ORDER BY turn LIMIT 1)
    FROM level WHERE priority IS NOT NULL)
SELECT name AS task_list, sum(ready)::bigint AS ready, sum(held)::bigint AS held, sum(leased)::bigint AS leased,
       min(oldest) AS oldest
  FROM part GROUP BY name ORDER BY name;

-- name: list_workers
SELECT id, name, task_lists, tasks, concurrency, started_at, seen_at FROM worker
 WHERE seen_at > (SELECT penstock_now()) - :age::interval ORDER BY started_at, id;

-- name: list_kept
SELECT id, event, body, reason, at, until,
       ARRAY(SELECT ARRAY[name, value] FROM kept_key WHERE kept = kept.id ORDER BY name, value) AS keys
  FROM kept WHERE id > :after::bigint AND until > (SELECT penstock_now()) ORDER BY id LIMIT :limit::bigint;

-- name: list_refused
SELECT late.name, late.value, late.run, first.run
  FROM correlation AS late JOIN correlation AS first ON first.name = late.name AND first.value = late.value
 WHERE first.number = (SELECT min(number) FROM correlation AS x WHERE x.name = late.name AND x.value = late.value)
   AND late.number > first.number
 ORDER BY late.name, late.value, late.number LIMIT :limit::bigint;

-- name: list_logs
SELECT id, body FROM log WHERE run = :run::text AND id > :after::bigint ORDER BY id LIMIT :limit::bigint;

-- name: start_key_run
SELECT run, digest FROM start_key WHERE workflow = :workflow::text AND key = :key::text;
