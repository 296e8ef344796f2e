-- name: one_draft
SELECT workflow, definition, title, author, at FROM draft WHERE workflow = :workflow;

-- name: put_draft
INSERT INTO draft (workflow, definition, title, author, at) VALUES (:workflow, :definition, :title, :author, :at)
ON CONFLICT (workflow) DO UPDATE SET definition = excluded.definition, title = excluded.title,
                                     author = excluded.author, at = excluded.at;

-- name: drop_draft
DELETE FROM draft WHERE workflow = :workflow RETURNING 1;

-- name: list_drafts
SELECT draft.workflow, title, author, draft.at, draft.definition IS NOT version.definition
  FROM draft LEFT JOIN workflow ON workflow.name = draft.workflow
             LEFT JOIN version ON version.workflow = draft.workflow AND version.version = workflow.latest
 ORDER BY draft.workflow;

-- name: list_versions
SELECT version, note, at FROM version WHERE workflow = :workflow AND version < :before ORDER BY version DESC LIMIT :limit;

-- name: count_runs_of_workflows
SELECT workflow, count(*) FROM run WHERE workflow IN (SELECT value FROM json_each(:names)) GROUP BY workflow;

-- name: count_other_runs
-- All but those that went well: of these there may be a million.
SELECT workflow, status, count(*) FROM run
 WHERE status IN ('running', 'waiting', 'paused', 'stalled', 'failed', 'canceled', 'timed_out')
   AND +workflow IN (SELECT value FROM json_each(:names))
 GROUP BY workflow, status;
