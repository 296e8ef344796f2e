-- name: newest_version
SELECT workflow, version, definition, offers, note, at FROM version WHERE workflow = :workflow::text
 ORDER BY version DESC LIMIT 1;

-- name: one_version
SELECT workflow, version, definition, offers, note, at FROM version
 WHERE workflow = :workflow::text AND version = :version::integer;

-- name: insert_version
INSERT INTO version (workflow, version, definition, offers, note, at)
VALUES (:workflow::text, :version::integer, :definition::text, :offers::bytea, :note::text, penstock_now())
RETURNING workflow, version, definition, offers, note, at;

-- name: put_workflow
-- Whether it is started is said once, when it is new.
INSERT INTO workflow (name, latest, started, paused) VALUES (:name::text, :latest::integer, :started::boolean, false)
ON CONFLICT (name) DO UPDATE SET latest = excluded.latest;

-- name: list_workflows
SELECT name, latest, started, paused, EXISTS (SELECT FROM setting WHERE setting.name = 'paused' AND value = 'yes') AS halted
  FROM workflow ORDER BY name;

-- name: start_workflow
UPDATE workflow SET started = :started::boolean WHERE name = :name::text RETURNING 1;

-- name: workflow_paused
SELECT paused FROM workflow WHERE name = :name::text;

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
