-- Who may come in. Of a token only the digest is kept; `workflows` and `task_lists` null are all.
CREATE TABLE access_token (
    id text COLLATE "C" PRIMARY KEY,
    role text NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    workflows text[],
    task_lists text[],
    concurrency integer,
    expires_at timestamptz NOT NULL,
    made_at timestamptz NOT NULL,
    made_by text NOT NULL,
    used_at timestamptz,
    revoked_at timestamptz
);

CREATE TABLE session (
    digest bytea PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    role text NOT NULL,
    token_id text,
    workflows text[],
    ip text,
    made_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    until timestamptz NOT NULL
);
CREATE INDEX session_by_end ON session (until);
CREATE INDEX session_by_name ON session (name);

-- Sign-ins that are with the identity provider.
CREATE TABLE login (
    digest bytea PRIMARY KEY,
    nonce text NOT NULL,
    verifier text NOT NULL,
    back_to text NOT NULL,
    until timestamptz NOT NULL
);
CREATE INDEX login_by_end ON login (until);

CREATE TABLE secret (
    name text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    updated_at timestamptz NOT NULL
);

-- What people did: rows are only added. `hash` covers the row and the hash before; the last one is also a setting.
CREATE TABLE audit (
    number bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    token_id text,
    ip text,
    action text NOT NULL,
    target text NOT NULL,
    was bytea,
    became bytea,
    reason text,
    hash bytea NOT NULL
);
INSERT INTO setting (name, value) VALUES ('audit', '0 ');
