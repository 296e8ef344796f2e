-- name: list_notes
-- Settings whose name begins with 'note:' are people's own; the others are the store's.
SELECT substr(name, 6) AS name, value FROM setting WHERE starts_with(name, 'note:' || :prefix::text)
 ORDER BY name COLLATE "C";

-- name: read_note
SELECT value FROM setting WHERE name = 'note:' || :name::text FOR UPDATE;

-- name: keep_note
INSERT INTO setting (name, value) VALUES ('note:' || :name::text, :value::text) ON CONFLICT (name) DO NOTHING
RETURNING 1;

-- name: put_note
INSERT INTO setting (name, value) VALUES ('note:' || :name::text, :value::text)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: drop_note
DELETE FROM setting WHERE name = 'note:' || :name::text;
