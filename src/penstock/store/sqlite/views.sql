-- part: asked_for
-- What a filter asks for; a part of it that is null asks for nothing.
   AND (:workflow IS NULL OR workflow = :workflow) AND (:version IS NULL OR version = :version)
   AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
   AND (:subject IS NULL OR subject = :subject) AND (:parent IS NULL OR parent = :parent)
   AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE key = :label AND value = :label_value))
   AND (:key IS NULL OR EXISTS (SELECT 1 FROM correlation WHERE run = run.id AND name = :key AND value = :key_value))
   AND (:waiting_for IS NULL OR EXISTS (SELECT 1 FROM json_each(waiting) WHERE value = :waiting_for))
   AND started_at >= :since AND started_at < :until

-- name: list_runs
-- Newest first. Each way of asking has an index to walk; the rest is filtered on the way.
SELECT id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at FROM run
 WHERE id < :before
   -- use: asked_for
 ORDER BY id DESC LIMIT :limit;

-- name: list_runs_of_workflow
SELECT id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at FROM run
 WHERE workflow = :workflow AND id < :before
   -- use: asked_for
 ORDER BY id DESC LIMIT :limit;

-- name: list_runs_in_status
-- One status at a time: among a million ended runs there may be few of it.
SELECT id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at FROM run
 WHERE status = :status AND id < :before
   -- use: asked_for
 ORDER BY id DESC LIMIT :limit;

-- name: list_runs_among
-- Few: those of a subject, of a parent, or with a key.
SELECT id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at FROM run
 WHERE id IN (SELECT id FROM run WHERE :subject IS NOT NULL AND subject = :subject
              UNION SELECT id FROM run WHERE :parent IS NOT NULL AND parent = :parent
              UNION SELECT run FROM correlation WHERE name = :key AND value = :key_value)
   AND id < :before
   -- use: asked_for
 ORDER BY id DESC LIMIT :limit;

-- name: count_runs
SELECT status, count(*) FROM run
 WHERE id < :before
   -- use: asked_for
 GROUP BY status;

-- name: count_all_runs
-- From the index alone.
SELECT status, count(*) FROM run GROUP BY status;

-- name: tasks_of_run
SELECT run, firing, idx, attempt, fence, task, task_list, worker, held, queued_at, started_at, progress FROM task
 WHERE run = :run ORDER BY firing, idx;

-- name: list_queues
SELECT task_list, count(*) FILTER (WHERE worker IS NULL AND held = 0), count(*) FILTER (WHERE worker IS NULL AND held = 1),
       count(worker), min(queued_at) FILTER (WHERE worker IS NULL AND held = 0)
  FROM task GROUP BY task_list ORDER BY task_list;

-- name: list_workers
SELECT id, name, task_lists, tasks, concurrency, started_at, seen_at FROM worker ORDER BY started_at, id;

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
