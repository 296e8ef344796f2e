-- name: list_notes
-- Settings whose name begins with 'note:' are people's own; the others are the store's.
SELECT substr(name, 6), value FROM setting WHERE name >= 'note:' || :prefix AND name < 'note:' || :prefix || char(0x10ffff)
 ORDER BY name;

-- name: read_note
SELECT value FROM setting WHERE name = 'note:' || :name;

-- name: put_note
INSERT INTO setting (name, value) VALUES ('note:' || :name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: drop_note
DELETE FROM setting WHERE name = 'note:' || :name;
