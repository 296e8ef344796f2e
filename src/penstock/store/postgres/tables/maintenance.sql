-- name: outdated_runs
SELECT id FROM run
 WHERE status = :status::text AND ended_at IS NOT NULL
   AND ended_at <= (SELECT penstock_now()) - :age::interval AND workflow <> ALL(:others::text[])
 ORDER BY ended_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED;

-- name: outdated_runs_of_workflow
-- What ended before then began before then: the index has the one, and not the other.
SELECT id FROM run
 WHERE workflow = :workflow::text AND started_at <= (SELECT penstock_now()) - :age::interval
   AND ended_at <= (SELECT penstock_now()) - :age::interval
 LIMIT :limit::bigint FOR UPDATE SKIP LOCKED;

-- name: drop_runs
-- Every table that names a run. Whoever adds one adds it here: rows of runs that are gone would grow for ever.
WITH dropped AS (DELETE FROM run WHERE id = ANY(:runs::text[]) RETURNING 1),
     histories AS (DELETE FROM history WHERE run = ANY(:runs) RETURNING 1),
     parts AS (DELETE FROM part WHERE run = ANY(:runs) RETURNING 1),
     payloads AS (DELETE FROM payload WHERE run = ANY(:runs) RETURNING 1),
     logs AS (DELETE FROM log WHERE run = ANY(:runs) RETURNING 1),
     ids AS (DELETE FROM seen WHERE run = ANY(:runs) RETURNING 1),
     start_keys AS (DELETE FROM start_key WHERE run = ANY(:runs) RETURNING 1),
     tasks AS (DELETE FROM task WHERE run = ANY(:runs) RETURNING 1),
     timers AS (DELETE FROM timer WHERE run = ANY(:runs) RETURNING 1),
     messages AS (DELETE FROM message WHERE run = ANY(:runs) RETURNING 1),
     locks AS (DELETE FROM lock WHERE run = ANY(:runs) RETURNING 1),
     correlations AS (DELETE FROM correlation WHERE run = ANY(:runs) RETURNING 1),
     keys AS (DELETE FROM run_key WHERE run = ANY(:runs) RETURNING 1),
     approvals AS (DELETE FROM approval WHERE run = ANY(:runs) RETURNING 1),
     timings AS (DELETE FROM timing WHERE run = ANY(:runs) RETURNING 1),
     rests AS (DELETE FROM rest WHERE run = ANY(:runs) RETURNING 1),
     labels AS (DELETE FROM run_label USING run, jsonb_each_text(run.labels) AS label
                 WHERE run.id = ANY(:runs) AND run_label.name = label.key AND run_label.value = label.value
                   AND run_label.started_at = run.started_at AND run_label.run = run.id RETURNING 1)
SELECT (SELECT count(*) FROM dropped) AS run, (SELECT count(*) FROM histories) AS history,
       (SELECT count(*) FROM parts) AS part, (SELECT count(*) FROM payloads) AS payload,
       (SELECT count(*) FROM logs) AS log, (SELECT count(*) FROM ids) AS seen,
       (SELECT count(*) FROM start_keys) AS start_key, (SELECT count(*) FROM tasks) AS task,
       (SELECT count(*) FROM timers) AS timer, (SELECT count(*) FROM messages) AS message,
       (SELECT count(*) FROM locks) AS lock, (SELECT count(*) FROM correlations) AS correlation,
       (SELECT count(*) FROM keys) AS run_key, (SELECT count(*) FROM rests) AS rest,
       (SELECT count(*) FROM timings) AS timing, (SELECT count(*) FROM approvals) AS approval,
       (SELECT count(*) FROM labels) AS run_label;

-- name: drop_outdated_kept
WITH old AS (SELECT id FROM kept WHERE until <= (SELECT penstock_now()) ORDER BY until LIMIT :limit::bigint
                FOR UPDATE SKIP LOCKED),
     gone AS (DELETE FROM kept WHERE id IN (SELECT id FROM old) RETURNING 1),
     keys AS (DELETE FROM kept_key WHERE kept IN (SELECT id FROM old) RETURNING 1)
SELECT (SELECT count(*) FROM gone) AS kept, (SELECT count(*) FROM keys) AS kept_key;

-- name: drop_outdated_seen
WITH old AS MATERIALIZED (SELECT scope, id FROM seen WHERE run IS NULL AND until <= (SELECT penstock_now())
                           LIMIT :limit::bigint FOR UPDATE SKIP LOCKED)
DELETE FROM seen WHERE (scope, id) IN (SELECT scope, id FROM old) RETURNING 1;

-- name: drop_gone_workers
-- Many workers tidy at once: nobody waits for another.
DELETE FROM worker WHERE id IN (SELECT id FROM worker WHERE seen_at <= (SELECT penstock_now()) - :age::interval
                                FOR UPDATE SKIP LOCKED) RETURNING 1;

-- name: put_worker
INSERT INTO worker (id, name, task_lists, tasks, concurrency, started_at, seen_at)
VALUES (:id::text, :name::text, :task_lists::text[], :tasks::text[], :concurrency::integer, :started_at::timestamptz,
        penstock_now())
ON CONFLICT (id) DO UPDATE SET name = excluded.name, task_lists = excluded.task_lists, tasks = excluded.tasks,
       concurrency = excluded.concurrency, seen_at = excluded.seen_at;

-- name: drop_worker
DELETE FROM worker WHERE id = :id::text;

-- name: gaps_in_history
-- Pages must follow one another without a gap, from entry 1 to the one that the run says.
SELECT run, seq, before
  FROM (SELECT run, seq, lag(last, 1, 0::bigint) OVER (PARTITION BY run ORDER BY seq) AS before FROM history) AS x
 WHERE seq <> before + 1 LIMIT 20;

-- name: wrong_ends_of_history
SELECT run.id, run.seq, COALESCE(max(history.last), 0) AS last FROM run LEFT JOIN history ON history.run = run.id
 GROUP BY run.id HAVING COALESCE(max(history.last), 0) <> run.seq LIMIT 20;

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
 LIMIT :limit::bigint;

-- name: overheld_locks
SELECT key, count(*), max(most) FROM lock WHERE held GROUP BY key HAVING count(*) > max(most) LIMIT 20;

-- name: idle_locks
-- A key that nobody holds although somebody waits for it.
SELECT key FROM lock GROUP BY key HAVING NOT bool_or(held) LIMIT 20;

-- name: locks_of_ended_runs
-- Nobody will give them back, and who waits behind waits for ever.
SELECT lock.key, lock.run, lock.firing, lock.idx FROM lock JOIN run ON run.id = lock.run
 WHERE run.ended_at IS NOT NULL LIMIT 20;

-- name: wrongly_held_tasks
-- Only the end of a pause frees a held task: without a pause nobody will ever get it.
SELECT task.run, task.firing, task.idx FROM task JOIN run ON run.id = task.run
 WHERE task.held AND run.ended_at IS NULL AND run.status <> 'paused' LIMIT 20;

-- name: read_facts
SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('full_page_writes') AS full_page_writes,
       pg_database_size(current_database()) AS bytes,
       (SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'task'::regclass) AS dead_tasks,
       (SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'run'::regclass) AS runs;

-- name: table_sizes
SELECT relname, pg_total_relation_size(oid) FROM pg_class
 WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'run'::regclass)
 ORDER BY relname;

-- name: backend
SELECT pg_backend_pid();

-- name: schema_there
-- Looked up in the table of tables: to_regclass may remember, over the wait for a lock, that it was not there.
SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'setting' AND relkind = 'r' AND pg_table_is_visible(oid));

-- name: ring_bell
SELECT pg_notify(:channel::text, :what::text);

-- name: columns_of_table
SELECT attname AS column_name FROM pg_attribute
 WHERE attrelid = (:name::text)::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;

-- name: any_run
SELECT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM version);

-- name: drop_settings
DELETE FROM setting;

-- name: identities
-- Of our tables alone: other programs may have theirs in the same database.
SELECT attrelid::regclass::text, attname::text FROM pg_attribute
 WHERE attidentity <> '' AND attrelid IN (SELECT name::regclass FROM unnest(:tables::text[]) AS name) ORDER BY 1, 2;

-- name: raise_identity
-- A number that was given out after the backup must not be given out again: a million is left free.
SELECT setval(pg_get_serial_sequence(:table::text, :column::text), 1000000 + GREATEST(
    (SELECT max(id) FROM timer), (SELECT max(id) FROM message), (SELECT max(id) FROM kept), (SELECT max(id) FROM log),
    (SELECT max(turn) FROM task), (SELECT max(number) FROM lock), (SELECT max(number) FROM correlation),
    (SELECT max(version) FROM token), 0));

-- name: raise_fences
-- Workers may still hold leases of the time after the backup, or of an earlier restore of it: theirs must not be taken
-- for ours. So all fences go on from the time, in microseconds: more leases than those no task has had.
WITH base AS (
    INSERT INTO setting (name, value)
    SELECT 'fence', GREATEST(
        (EXTRACT(EPOCH FROM penstock_now()) * 1000000)::bigint, (SELECT max(fence) FROM task) + 1000000,
        (SELECT value::bigint FROM setting WHERE name = 'fence') + 1000000)::text
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    RETURNING value::bigint AS fence)
UPDATE task SET fence = base.fence FROM base;
