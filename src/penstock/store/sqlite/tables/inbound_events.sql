-- name: insert_message
INSERT INTO message (id, run, body, ready_at) VALUES (:id, :run, :body, :ready_at);

-- name: use_message
DELETE FROM message WHERE id = :id;

-- name: drop_unbegun
-- What asks for a run that was never made: whoever has it in hand finds it gone, and makes no run.
DELETE FROM message WHERE run = :run AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = message.run);

-- name: message_there
SELECT 1 FROM message WHERE id = :id;

-- name: due_messages
SELECT id, run, body FROM message WHERE ready_at <= :now ORDER BY ready_at, id LIMIT :limit;

-- name: take_message
UPDATE message SET ready_at = :until WHERE id = :id;

-- name: insert_seen
-- An id whose time is over counts as new, whether or not retention was there.
INSERT INTO seen (scope, id, until, run) VALUES (:scope, :id, :until, :run)
ON CONFLICT (scope, id) DO UPDATE SET until = excluded.until, run = excluded.run WHERE seen.until <= :now;

-- name: seen_there
SELECT 1 FROM seen WHERE scope = :scope AND id = :id AND until > :now;

-- name: insert_lock
INSERT INTO lock (key, run, firing, idx, most, body, number, held)
VALUES (:key, :run, :firing, :idx, :most, :body, :number, 0)
ON CONFLICT (run, firing, idx, key) DO NOTHING;

-- name: drop_lock
DELETE FROM lock WHERE key = :key AND run = :run AND firing = :firing AND idx = :idx;

-- name: drop_locks_of_runs
DELETE FROM lock WHERE run IN (SELECT value FROM json_each(:runs)) RETURNING key;

-- name: locks_held
SELECT count(*) FROM lock WHERE key = :key AND held = 1;

-- name: locks_waiting
SELECT number, run, firing, idx, most, body FROM lock WHERE key = :key AND held = 0 ORDER BY number;

-- name: grant_lock
UPDATE lock SET held = 1 WHERE run = :run AND firing = :firing AND idx = :idx AND key = :key;

-- name: insert_correlation
INSERT INTO correlation (name, value, run, number) VALUES (:name, :value, :run, :number)
ON CONFLICT (run, name, value) DO NOTHING;

-- name: drop_correlations_of_runs
DELETE FROM correlation WHERE run IN (SELECT value FROM json_each(:runs)) RETURNING name, value, number;

-- name: first_in_line
SELECT min(number) FROM correlation WHERE name = :name AND value = :value HAVING min(number) IS NOT NULL;

-- name: key_owner
SELECT run FROM correlation WHERE name = :name AND value = :value ORDER BY number LIMIT 1;

-- name: insert_kept
INSERT INTO kept (id, event, body, reason, at, until) VALUES (:id, :event, :body, :reason, :at, :until);

-- name: insert_kept_key
INSERT INTO kept_key (name, value, kept) VALUES (:name, :value, :kept) ON CONFLICT DO NOTHING;

-- name: kept_for_key
SELECT kept.id, kept.body FROM kept_key JOIN kept ON kept.id = kept_key.kept
 WHERE kept_key.name = :name AND kept_key.value = :value AND kept.until > :now ORDER BY kept.id;

-- name: kept_body
SELECT body FROM kept WHERE id = :id;

-- name: kept_keys
SELECT name, value FROM kept_key WHERE kept = :kept ORDER BY name, value;

-- name: drop_kept
DELETE FROM kept WHERE id = :id;

-- name: drop_kept_keys
DELETE FROM kept_key WHERE kept = :kept;
