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
