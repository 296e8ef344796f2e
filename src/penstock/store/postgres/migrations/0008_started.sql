-- Since when a source makes runs: what came before is not for it, however late somebody begins to look.
ALTER TABLE workflow ADD COLUMN started_at timestamptz;
