-- Lists of runs are read newest first, a page at a time, each from an index that lies in this very order. So every
-- index ends with (started_at, id). Indexes that only troubled runs are in cost a run that goes well nothing.
DROP INDEX run_by_workflow;
DROP INDEX run_by_status;
DROP INDEX run_by_subject;
DROP INDEX run_by_parent;
DROP INDEX run_by_end;
DROP INDEX run_by_label;
CREATE INDEX run_by_version ON run (workflow, version, started_at, id);
CREATE INDEX run_by_status ON run (status, started_at, id);
CREATE INDEX run_by_subject ON run (subject, started_at, id) WHERE subject IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent, started_at, id) WHERE parent IS NOT NULL;
CREATE INDEX run_by_end ON run (status, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX run_by_trouble ON run (workflow, status, started_at, id) INCLUDE (version)
    WHERE status NOT IN ('running', 'succeeded');

CREATE TABLE run_label (
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL,
    run text COLLATE "C" NOT NULL,
    PRIMARY KEY (name, value, started_at, run)
);
INSERT INTO run_label SELECT label.key, label.value, started_at, id FROM run, jsonb_each_text(labels) AS label;

-- The correlation keys that a run has or had: `correlation` has only those of live runs.
CREATE TABLE run_key (
    run text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL,
    PRIMARY KEY (run, name, value)
);
CREATE INDEX run_key_by_name ON run_key (name, value, started_at, run);
CREATE INDEX run_key_by_value ON run_key (value, started_at, run);
INSERT INTO run_key SELECT run, name, value, started_at FROM correlation JOIN run ON run.id = correlation.run;

-- Where runs rest: the events that one waits for ('event'), and the steps at which it waits, starves or failed ('step').
CREATE TABLE rest (
    run text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    PRIMARY KEY (run, kind, name)
);
CREATE INDEX rest_by_name ON rest (kind, name, started_at, run) INCLUDE (since);
INSERT INTO rest SELECT run.id, 'event', event, started_at, started_at FROM run, jsonb_array_elements_text(run.waiting) AS event
 WHERE status IN ('waiting', 'stalled') GROUP BY 1, 2, 3;

ALTER TABLE task ADD COLUMN step text COLLATE "C" NOT NULL DEFAULT '';

-- What custom workers keep: names under /custom/. `version` rises with every change.
CREATE TABLE token (
    name text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    owner text COLLATE "C",
    expires timestamptz,
    priority double precision NOT NULL,
    data bytea NOT NULL
);
