-- Lists of runs are read newest first, a page at a time, each from an index that lies in this very order. So every
-- index ends with (started_at, id). Indexes that only troubled runs are in cost a run that goes well nothing.
DROP INDEX run_by_workflow;
DROP INDEX run_by_status;
DROP INDEX run_by_subject;
DROP INDEX run_by_parent;
DROP INDEX run_by_end;
CREATE INDEX run_by_version ON run (workflow, version, started_at, id);
CREATE INDEX run_by_status ON run (status, started_at, id);
CREATE INDEX run_by_subject ON run (subject, started_at, id) WHERE subject IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent, started_at, id) WHERE parent IS NOT NULL;
CREATE INDEX run_by_end ON run (status, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX run_by_trouble ON run (workflow, status, started_at, id, version)
  WHERE status NOT IN ('running', 'succeeded');

CREATE TABLE run_label (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (name, value, started_at, run)
) WITHOUT ROWID;
INSERT INTO run_label SELECT label.key, label.value, run.started_at, run.id FROM run, json_each(run.labels) AS label;

-- The correlation keys that a run has or had: `correlation` has only those of live runs.
CREATE TABLE run_key (
  run TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run, name, value)
) WITHOUT ROWID;
CREATE INDEX run_key_by_name ON run_key (name, value, started_at, run);
CREATE INDEX run_key_by_value ON run_key (value, started_at, run);
INSERT INTO run_key SELECT run, name, value, started_at FROM correlation JOIN run ON run.id = correlation.run;

-- Where runs rest: the events that one waits for ('event'), and the steps at which it waits, starves or failed ('step').
CREATE TABLE rest (
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  since INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run, kind, name)
) WITHOUT ROWID;
CREATE INDEX rest_by_name ON rest (kind, name, started_at, run, since);
INSERT INTO rest SELECT run.id, 'event', event.value, run.started_at, run.started_at FROM run, json_each(run.waiting) AS event
  WHERE run.status IN ('waiting', 'stalled') GROUP BY 1, 2, 3;

ALTER TABLE task ADD COLUMN step TEXT NOT NULL DEFAULT '';

-- What custom workers keep: names under /custom/. Times as everywhere; `version` rises with every change.
CREATE TABLE token (
  name TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  owner TEXT,
  expires INTEGER,
  priority REAL NOT NULL,
  data BLOB NOT NULL
) WITHOUT ROWID;

-- How long attempts waited for a worker: of one run in sixteen, and only of those that waited. See `timed` in change.py.
CREATE TABLE timing (
  run TEXT NOT NULL,
  firing INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run, firing, idx, attempt)
) WITHOUT ROWID;
