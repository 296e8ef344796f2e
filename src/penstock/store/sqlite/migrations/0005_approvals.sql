-- What people are asked to decide: one row an attempt of an `approval` step, written with the run's own change.
CREATE TABLE approval (
  id TEXT PRIMARY KEY NOT NULL,
  run TEXT NOT NULL,
  workflow TEXT NOT NULL,
  step TEXT NOT NULL,
  role TEXT NOT NULL,
  body BLOB NOT NULL,
  status TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  due_at INTEGER,
  ended_at INTEGER,
  decided_by TEXT,
  decision BLOB
) WITHOUT ROWID;
CREATE INDEX approval_by_status ON approval (status, opened_at, id);
CREATE INDEX approval_by_time ON approval (opened_at, id);
CREATE INDEX approval_by_run ON approval (run);
