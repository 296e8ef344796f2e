-- What runs publish, until the broker has it: written with the decision that made it. `body` holds all of it, so that
-- a run may go before its letters do.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  bus TEXT NOT NULL,
  topic TEXT NOT NULL,
  run TEXT NOT NULL,
  body BLOB NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX outbox_by_topic ON outbox (bus, topic, id);
