-- Who may come in. Of a token only the digest is kept; `workflows` and `task_lists` are JSON, null is all.
CREATE TABLE access_token (
  id TEXT PRIMARY KEY NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  digest BLOB NOT NULL,
  workflows TEXT,
  task_lists TEXT,
  concurrency INTEGER,
  expires_at INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  used_at INTEGER,
  revoked_at INTEGER
) WITHOUT ROWID;

CREATE TABLE session (
  digest BLOB PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  token_id TEXT,
  workflows TEXT,
  ip TEXT,
  made_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_by_end ON session (until);
CREATE INDEX session_by_name ON session (name);

-- Sign-ins that are with the identity provider.
CREATE TABLE login (
  digest BLOB PRIMARY KEY NOT NULL,
  nonce TEXT NOT NULL,
  verifier TEXT NOT NULL,
  back_to TEXT NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_by_end ON login (until);

CREATE TABLE secret (
  name TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- What people did: rows are only added. `hash` covers the row and the hash before; the last one is also a setting.
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  token_id TEXT,
  ip TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  was BLOB,
  became BLOB,
  reason TEXT,
  hash BLOB NOT NULL
);
INSERT INTO setting (name, value) VALUES ('audit', '0 ');
