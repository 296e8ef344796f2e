-- name: insert_message
INSERT INTO message (run, body, ready_at)
SELECT run, body, :ready_at::timestamptz FROM unnest(:run::text[], :body::bytea[]) WITH ORDINALITY AS x (run, body, ord)
 ORDER BY ord
RETURNING id, run, body;

-- name: use_message
DELETE FROM message WHERE id = ANY(:ids::bigint[]) RETURNING id;

-- name: drop_unbegun
-- What asks for a run that was never made: whoever has it in hand finds it gone, and makes no run.
DELETE FROM message WHERE id IN (SELECT id FROM message WHERE run = ANY(:runs::text[])
   AND NOT EXISTS (SELECT FROM run WHERE run.id = message.run) ORDER BY id FOR UPDATE);

-- name: due_messages
-- Materialized, here and wherever a limit meets a lock: a nested loop would apply the limit once for each row.
WITH x AS MATERIALIZED (SELECT id, ready_at AS was FROM message WHERE ready_at <= :now::timestamptz
                         ORDER BY ready_at, id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED)
UPDATE message SET ready_at = :until::timestamptz FROM x WHERE message.id = x.id
RETURNING message.id, message.run, message.body, x.was;

-- name: insert_seen
-- An id whose time is over counts as new, whether or not retention was there.
INSERT INTO seen (scope, id, until, run)
SELECT scope, id, COALESCE(until, 'infinity'), run
  FROM unnest(:scope::text[], :id::text[], :until::timestamptz[], :run::text[]) AS x (scope, id, until, run)
 ORDER BY scope, id
ON CONFLICT (scope, id) DO UPDATE SET until = excluded.until, run = excluded.run
                                WHERE seen.until <= (SELECT penstock_now())
RETURNING scope, id;

-- name: seen_there
SELECT x.ord FROM unnest(:scope::text[], :id::text[]) WITH ORDINALITY AS x (scope, id, ord)
  JOIN seen ON seen.scope = x.scope AND seen.id = x.id
 WHERE seen.until > (SELECT penstock_now());

-- name: lock_keys
-- Until the end of the transaction, in rising order: who changes the line of a key is alone with it.
SELECT pg_advisory_xact_lock(x) FROM unnest(:keys::bigint[]) AS x;

-- name: insert_lock
INSERT INTO lock (key, run, firing, idx, most, body, held)
SELECT key, run, firing, idx, most, body, false
  FROM unnest(:key::text[], :run::text[], :firing::bigint[], :idx::bigint[], :most::integer[], :body::bytea[])
       WITH ORDINALITY AS x (key, run, firing, idx, most, body, ord)
 ORDER BY ord
ON CONFLICT (run, firing, idx, key) DO NOTHING;

-- name: drop_lock
DELETE FROM lock USING unnest(:key::text[], :run::text[], :firing::bigint[], :idx::bigint[]) AS x (key, run, firing, idx)
 WHERE lock.key = x.key AND lock.run = x.run AND lock.firing = x.firing AND lock.idx = x.idx;

-- name: drop_locks_of_run
DELETE FROM lock WHERE run = ANY(:runs::text[]);

-- name: grant_lock
-- The first in each line, as many as there is room for. Only the head of a line is read, however long it is.
UPDATE lock SET held = true
  FROM (SELECT first.*, row_number() OVER (PARTITION BY line.key ORDER BY first.number) + line.taken AS rank
          FROM (SELECT key, (SELECT count(*) FROM lock WHERE key = x.key AND held) AS taken,
                       (SELECT most FROM lock WHERE key = x.key AND NOT held ORDER BY number LIMIT 1) AS most
                  FROM (SELECT DISTINCT key FROM unnest(:keys::text[]) AS key) AS x) AS line,
               LATERAL (SELECT run, firing, idx, key, number, most FROM lock WHERE key = line.key AND NOT held
                         ORDER BY number LIMIT GREATEST(line.most - line.taken, 0)) AS first) AS x
 WHERE lock.run = x.run AND lock.firing = x.firing AND lock.idx = x.idx AND lock.key = x.key AND x.rank <= x.most
RETURNING lock.key, lock.number, lock.run, lock.body;

-- name: insert_correlation
INSERT INTO correlation (name, value, run)
SELECT name, value, run FROM unnest(:name::text[], :value::text[], :run::text[]) WITH ORDINALITY AS x (name, value, run, ord)
 ORDER BY ord
ON CONFLICT (run, name, value) DO NOTHING;

-- name: drop_correlations_of_run
DELETE FROM correlation WHERE run = ANY(:runs::text[]);

-- name: key_owner
-- The run that each key belongs to: of those that asked, the first.
SELECT DISTINCT ON (x.ord) x.name, x.value, run
  FROM unnest(:name::text[], :value::text[]) WITH ORDINALITY AS x (name, value, ord)
  JOIN correlation ON correlation.name = x.name AND correlation.value = x.value
 ORDER BY x.ord, number;

-- name: insert_kept
INSERT INTO kept (event, body, reason, at, until)
SELECT event, body, reason, penstock_now(), until
  FROM unnest(:event::text[], :body::bytea[], :reason::text[], :until::timestamptz[])
       WITH ORDINALITY AS x (event, body, reason, until, ord)
 ORDER BY ord
RETURNING id;

-- name: insert_kept_key
INSERT INTO kept_key (name, value, kept)
SELECT * FROM unnest(:name::text[], :value::text[], :kept::bigint[])
ON CONFLICT DO NOTHING;

-- name: kept_for_key
SELECT kept.id, kept.body, kept_key.name, kept_key.value
  FROM unnest(:name::text[], :value::text[]) AS x (name, value)
  JOIN kept_key ON kept_key.name = x.name AND kept_key.value = x.value
  JOIN kept ON kept.id = kept_key.kept
 WHERE kept.until > (SELECT penstock_now())
 ORDER BY kept.id, kept_key.name, kept_key.value;

-- name: kept_body
SELECT body FROM kept WHERE id = :id::bigint;

-- name: kept_keys
SELECT name, value FROM kept_key WHERE kept = :kept::bigint ORDER BY name, value;

-- name: drop_kept
WITH keys AS (DELETE FROM kept_key WHERE kept = ANY(:ids::bigint[]))
DELETE FROM kept WHERE id = ANY(:ids::bigint[]) RETURNING id;

-- name: message_there
SELECT id FROM message WHERE id = ANY(:ids::bigint[]);
