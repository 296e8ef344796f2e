-- Times are microseconds since 1970 (UTC); 'never' is 9000000000000000000. Keys compare byte by byte.
-- Numbers and ids are made by the writer: they rise, and none is used twice.

CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Not WITHOUT ROWID: a head of more than a kilobyte would spill out of every page of the key's tree.
CREATE TABLE run (
  id TEXT PRIMARY KEY NOT NULL,
  workflow TEXT NOT NULL,
  version INTEGER NOT NULL,
  subject TEXT,
  status TEXT NOT NULL,
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  parent TEXT,
  labels TEXT NOT NULL,
  waiting TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  header BLOB NOT NULL,
  head BLOB NOT NULL
);
CREATE INDEX run_by_workflow ON run (workflow, id);
CREATE INDEX run_by_status ON run (status, id);
CREATE INDEX run_by_subject ON run (subject, id) WHERE subject IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX run_by_end ON run (status, ended_at) WHERE ended_at IS NOT NULL;

-- Pages of a run's history: entries `seq` to `last`.
CREATE TABLE history (
  run TEXT NOT NULL,
  seq INTEGER NOT NULL,
  last INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, seq)
) WITHOUT ROWID;

CREATE TABLE part (
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  firing INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, kind, firing, idx)
) WITHOUT ROWID;

CREATE TABLE payload (
  run TEXT NOT NULL,
  digest BLOB NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, digest)
);

-- Hot and narrow. `turn` is the place in its list; a task that is given back goes before all others.
-- `expires` is when somebody must look at it: no column that a time-out is judged by may be null.
CREATE TABLE task (
  run TEXT NOT NULL,
  firing INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  task TEXT NOT NULL,
  task_list TEXT NOT NULL,
  priority INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  worker TEXT,
  beat INTEGER NOT NULL,
  start_within INTEGER,
  run_for INTEGER,
  end_within INTEGER,
  start_by INTEGER NOT NULL,
  stop_by INTEGER NOT NULL,
  end_by INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  held INTEGER NOT NULL,
  progress BLOB,
  PRIMARY KEY (run, firing, idx)
) WITHOUT ROWID;
CREATE INDEX task_ready ON task (task_list, priority DESC, turn, task) WHERE worker IS NULL AND held = 0;
CREATE INDEX task_by_expiry ON task (expires);

-- `ready_at` is when it may be handed out: when it is due, and after that when the patience with its taker ends.
CREATE TABLE timer (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  due INTEGER NOT NULL,
  body BLOB NOT NULL,
  ready_at INTEGER NOT NULL
);
CREATE INDEX timer_by_time ON timer (ready_at);
CREATE INDEX timer_by_run ON timer (run);

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  run TEXT,
  body BLOB NOT NULL,
  ready_at INTEGER NOT NULL
);
CREATE INDEX message_by_time ON message (ready_at);
CREATE INDEX message_by_run ON message (run);

CREATE TABLE lock (
  run TEXT NOT NULL,
  firing INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  most INTEGER NOT NULL,
  held INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, firing, idx, key)
) WITHOUT ROWID;
CREATE INDEX lock_line ON lock (key, held, number);

CREATE TABLE correlation (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  number INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (name, value, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX correlation_by_run ON correlation (run, name, value);

CREATE TABLE kept (
  id INTEGER PRIMARY KEY,
  event TEXT NOT NULL,
  body BLOB NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  until INTEGER NOT NULL
);
CREATE INDEX kept_by_end ON kept (until);
CREATE TABLE kept_key (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  kept INTEGER NOT NULL,
  PRIMARY KEY (name, value, kept)
) WITHOUT ROWID;
CREATE INDEX kept_key_by_kept ON kept_key (kept);

-- `run` is named where the id counts as long as that run is there.
CREATE TABLE seen (
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  until INTEGER NOT NULL,
  run TEXT,
  PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE INDEX seen_by_end ON seen (until) WHERE run IS NULL;
CREATE INDEX seen_by_run ON seen (run) WHERE run IS NOT NULL;

CREATE TABLE start_key (
  workflow TEXT NOT NULL,
  key TEXT NOT NULL,
  run TEXT NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (workflow, key)
) WITHOUT ROWID;
CREATE INDEX start_key_by_run ON start_key (run);

CREATE TABLE workflow (
  name TEXT PRIMARY KEY NOT NULL,
  latest INTEGER NOT NULL,
  started INTEGER NOT NULL,
  paused INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE version (
  workflow TEXT NOT NULL,
  version INTEGER NOT NULL,
  definition TEXT NOT NULL,
  offers BLOB NOT NULL,
  note TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (workflow, version)
);

CREATE TABLE log (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  at INTEGER NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX log_by_run ON log (run, id);

CREATE TABLE worker (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  task_lists TEXT NOT NULL,
  tasks TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;
