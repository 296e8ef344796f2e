-- name: newest_version
SELECT workflow, version, definition, offers, note, at FROM version WHERE workflow = :workflow::text
 ORDER BY version DESC LIMIT 1;

-- name: one_version
SELECT workflow, version, definition, offers, note, at FROM version
 WHERE workflow = :workflow::text AND version = :version::integer;

-- name: list_versions
SELECT version, note, at FROM version WHERE workflow = :workflow::text AND version < :before::integer
 ORDER BY version DESC LIMIT :limit::integer;

-- name: insert_version
INSERT INTO version (workflow, version, definition, offers, note, at)
VALUES (:workflow::text, :version::integer, :definition::text, :offers::bytea, :note::text, penstock_now())
RETURNING workflow, version, definition, offers, note, at;

-- name: put_workflow
-- Whether it is started is said once, when it is new.
INSERT INTO workflow (name, latest, started, paused, started_at)
VALUES (:name::text, :latest::integer, :started::boolean, false, penstock_now())
ON CONFLICT (name) DO UPDATE SET latest = excluded.latest;

-- name: list_workflows
SELECT name, latest, started, paused, EXISTS (SELECT FROM setting WHERE setting.name = 'paused' AND value = 'yes') AS halted,
       started_at, stopped_at
  FROM workflow ORDER BY name;

-- name: one_workflow
SELECT name, latest, started, paused, EXISTS (SELECT FROM setting WHERE setting.name = 'paused' AND value = 'yes') AS halted,
       started_at, stopped_at
  FROM workflow WHERE name = :name::text;

-- name: start_workflow
-- One that is started already, or stopped, stays as it was.
UPDATE workflow SET started = :started::boolean,
       started_at = CASE WHEN :started::boolean AND NOT started THEN penstock_now() ELSE started_at END,
       stopped_at = CASE WHEN started AND NOT :started::boolean THEN penstock_now() ELSE stopped_at END
 WHERE name = :name::text RETURNING 1;

-- name: workflow_paused
-- Locked: runs that are made at the same time are there before it is changed, or see it changed.
SELECT paused FROM workflow WHERE name = :name::text FOR UPDATE;

-- name: installation_paused
SELECT value = 'yes' FROM setting WHERE name = 'paused' FOR UPDATE;

-- name: read_beliefs
-- Pauses of workflows and of the installation, newest versions: they stay so until the end of the transaction.
WITH setting AS MATERIALIZED (SELECT value = 'yes' AS paused FROM setting WHERE name = 'paused' FOR SHARE),
     line AS MATERIALIZED (SELECT name, paused, latest FROM workflow WHERE name = ANY(:names::text[]) ORDER BY name FOR SHARE)
SELECT NULL AS name, paused, 0 AS latest FROM setting UNION ALL SELECT name, paused, latest FROM line;

-- name: pause_workflow
UPDATE workflow SET paused = :paused::boolean WHERE name = :name::text;

-- name: live_runs
SELECT id FROM run WHERE ended_at IS NULL AND status IN ('running', 'waiting', 'paused', 'stalled') ORDER BY id;

-- name: live_runs_of_workflow
SELECT id FROM run WHERE workflow = :workflow::text AND ended_at IS NULL
   AND status IN ('running', 'waiting', 'paused', 'stalled') ORDER BY id;

-- name: read_setting
SELECT value FROM setting WHERE name = :name::text;

-- name: put_setting
INSERT INTO setting (name, value) VALUES (:name::text, :value::text)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: take_back_messages
-- What nobody has used up: who has it in hand finds it gone. Also of runs that ended with it, for they may be retried.
DELETE FROM message WHERE run IS NOT NULL AND body = :body::bytea;

-- name: take_back_messages_of_workflow
DELETE FROM message USING run WHERE run.id = message.run AND run.workflow = :workflow::text AND body = :body::bytea;
