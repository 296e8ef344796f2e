-- name: list_tokens
SELECT name, version, owner, expires, priority, data FROM token
 WHERE name >= :prefix AND name < :last AND name > :after ORDER BY name LIMIT :limit;

-- name: token_version
SELECT version FROM token WHERE name = :name;

-- name: put_token
INSERT INTO token (name, version, owner, expires, priority, data)
VALUES (:name, :version, :owner, :expires, :priority, :data)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, owner = excluded.owner, expires = excluded.expires,
       priority = excluded.priority, data = excluded.data;

-- name: drop_token
DELETE FROM token WHERE name = :name;

-- name: free_tokens
SELECT name FROM token WHERE name >= :prefix AND name < :last AND (owner IS NULL OR expires <= :now)
 ORDER BY priority DESC, name LIMIT :limit;

-- name: claim_token
UPDATE token SET owner = :owner, expires = :expires, version = :version WHERE name = :name
RETURNING name, version, owner, expires, priority, data;
