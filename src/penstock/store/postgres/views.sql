-- name: list_runs
-- Newest first. Planned for each question: a filter that is absent costs nothing, one that is there finds its index.
SELECT id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at FROM run
 WHERE (:before::text IS NULL OR id < :before)
   AND (:workflow::text IS NULL OR workflow = :workflow) AND (:version::integer IS NULL OR version = :version)
   AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
   AND (:subject::text IS NULL OR subject = :subject) AND (:parent::text IS NULL OR parent = :parent)
   AND (:labels::jsonb IS NULL OR (labels <> '{}' AND labels @> :labels))
   AND (:key::text IS NULL OR id IN (SELECT run FROM correlation WHERE name = :key AND value = :key_value::text))
   AND (:waiting_for::text IS NULL OR jsonb_exists(waiting, :waiting_for))
   AND (:since::timestamptz IS NULL OR started_at >= :since) AND (:until::timestamptz IS NULL OR started_at < :until)
 ORDER BY id DESC LIMIT :limit::bigint;

-- name: count_runs
SELECT status, count(*) FROM run
 WHERE (:before::text IS NULL OR id < :before)
   AND (:workflow::text IS NULL OR workflow = :workflow) AND (:version::integer IS NULL OR version = :version)
   AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
   AND (:subject::text IS NULL OR subject = :subject) AND (:parent::text IS NULL OR parent = :parent)
   AND (:labels::jsonb IS NULL OR (labels <> '{}' AND labels @> :labels))
   AND (:key::text IS NULL OR id IN (SELECT run FROM correlation WHERE name = :key AND value = :key_value::text))
   AND (:waiting_for::text IS NULL OR jsonb_exists(waiting, :waiting_for))
   AND (:since::timestamptz IS NULL OR started_at >= :since) AND (:until::timestamptz IS NULL OR started_at < :until)
 GROUP BY status;

-- name: tasks_of_run
SELECT run, firing, idx, attempt, fence, task, task_list, worker, held, queued_at, started_at, progress FROM task
 WHERE run = :run::text ORDER BY firing, idx;

-- name: list_queues
SELECT task_list, count(*) FILTER (WHERE worker IS NULL AND NOT held) AS ready,
       count(*) FILTER (WHERE worker IS NULL AND held) AS held, count(worker) AS leased,
       min(queued_at) FILTER (WHERE worker IS NULL AND NOT held) AS oldest
  FROM task GROUP BY task_list ORDER BY task_list;

-- name: list_workers
SELECT id, name, task_lists, tasks, concurrency, started_at, seen_at FROM worker ORDER BY started_at, id;

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
