-- name: newest_version
SELECT workflow, version, definition, offers, note, at FROM version WHERE workflow = :workflow
 ORDER BY version DESC LIMIT 1;

-- name: one_version
SELECT workflow, version, definition, offers, note, at FROM version WHERE workflow = :workflow AND version = :version;

-- name: list_versions
SELECT version, note, at FROM version WHERE workflow = :workflow AND version < :before ORDER BY version DESC LIMIT :limit;

-- name: insert_version
INSERT INTO version (workflow, version, definition, offers, note, at)
VALUES (:workflow, :version, :definition, :offers, :note, :at);

-- name: put_workflow
-- Whether it is started is said once, when it is new.
INSERT INTO workflow (name, latest, started, paused, started_at) VALUES (:name, :latest, :started, 0, :now)
ON CONFLICT (name) DO UPDATE SET latest = excluded.latest;

-- name: list_workflows
SELECT name, latest, started, paused, started_at, stopped_at FROM workflow ORDER BY name;

-- name: one_workflow
SELECT name, latest, started, paused, started_at, stopped_at FROM workflow WHERE name = :name;

-- name: start_workflow
-- One that is started already, or stopped, stays as it was.
UPDATE workflow SET started = :started, started_at = CASE WHEN :started AND NOT started THEN :now ELSE started_at END,
       stopped_at = CASE WHEN started AND NOT :started THEN :now ELSE stopped_at END
 WHERE name = :name RETURNING 1;

-- name: workflow_paused
SELECT paused FROM workflow WHERE name = :name;

-- name: read_beliefs
-- Pauses of workflows and of the installation, newest versions. A workflow that was never published is not answered.
SELECT name, paused, EXISTS (SELECT 1 FROM setting WHERE setting.name = 'paused' AND value = 'yes'), latest
  FROM workflow
 WHERE name IN (SELECT value FROM json_each(:names));

-- name: pause_workflow
UPDATE workflow SET paused = :paused WHERE name = :name;

-- name: live_runs
SELECT id FROM run WHERE ended_at IS NULL AND status IN ('running', 'waiting', 'paused', 'stalled') ORDER BY id;

-- name: live_runs_of_workflow
-- By status: a workflow may have a million ended runs. The + keeps its index out of it.
SELECT id FROM run WHERE +workflow = :workflow AND ended_at IS NULL
   AND status IN ('running', 'waiting', 'paused', 'stalled') ORDER BY id;

-- name: read_setting
SELECT value FROM setting WHERE name = :name;

-- name: put_setting
INSERT INTO setting (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: take_back_messages
-- What nobody has used up: who has it in hand finds it gone. Also of runs that ended with it, for they may be retried.
DELETE FROM message WHERE run IS NOT NULL AND body = :body;

-- name: take_back_messages_of_workflow
DELETE FROM message WHERE body = :body
   AND EXISTS (SELECT 1 FROM run WHERE run.id = message.run AND run.workflow = :workflow);
