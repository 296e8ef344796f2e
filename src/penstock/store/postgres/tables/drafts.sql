-- name: one_draft
SELECT workflow, definition, title, author, at FROM draft WHERE workflow = :workflow::text;

-- name: put_draft
INSERT INTO draft (workflow, definition, title, author, at)
VALUES (:workflow::text, :definition::text, :title::text, :author::text, penstock_now())
ON CONFLICT (workflow) DO UPDATE SET definition = excluded.definition, title = excluded.title,
                                     author = excluded.author, at = excluded.at
RETURNING at;

-- name: drop_draft
DELETE FROM draft WHERE workflow = :workflow::text RETURNING penstock_now() AS at;

-- name: list_drafts
SELECT draft.workflow, title, author, draft.at, draft.definition IS DISTINCT FROM version.definition AS changed
  FROM draft LEFT JOIN workflow ON workflow.name = draft.workflow
             LEFT JOIN version ON version.workflow = draft.workflow AND version.version = workflow.latest
 ORDER BY draft.workflow;
