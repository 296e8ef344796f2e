-- What people are asked to decide: one row an attempt of an `approval` step, written with the run's own change.
CREATE TABLE approval (
    id text COLLATE "C" PRIMARY KEY,
    run text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    status text COLLATE "C" NOT NULL,
    opened_at timestamptz NOT NULL,
    due_at timestamptz,
    ended_at timestamptz,
    decided_by text COLLATE "C",
    decision bytea
);
CREATE INDEX approval_by_status ON approval (status, opened_at, id);
CREATE INDEX approval_by_time ON approval (opened_at, id);
CREATE INDEX approval_by_run ON approval (run);
