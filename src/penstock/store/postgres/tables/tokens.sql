-- name: list_tokens
SELECT name, version, owner, expires, priority, data FROM token
 WHERE name >= :prefix::text AND name < :last::text AND name > :after::text ORDER BY name LIMIT :limit::bigint;

-- name: lock_tokens
-- By name: two who share tokens would wait for each other otherwise.
SELECT name, version FROM token WHERE name = ANY(:names::text[]) ORDER BY name FOR UPDATE;

-- name: insert_token
INSERT INTO token (name, owner, expires, priority, data)
SELECT * FROM unnest(:name::text[], :owner::text[], :expires::timestamptz[], :priority::double precision[], :data::bytea[])
    AS x (name, owner, expires, priority, data) ORDER BY x.name
ON CONFLICT (name) DO NOTHING
RETURNING name, version, owner, expires, priority, data;

-- name: update_token
UPDATE token SET version = nextval(pg_get_serial_sequence('token', 'version')), owner = x.owner, expires = x.expires,
       priority = x.priority, data = x.data
  FROM unnest(:name::text[], :owner::text[], :expires::timestamptz[], :priority::double precision[], :data::bytea[])
    AS x (name, owner, expires, priority, data)
 WHERE token.name = x.name
RETURNING token.name, token.version, token.owner, token.expires, token.priority, token.data;

-- name: drop_token
DELETE FROM token WHERE name = ANY(:names::text[]);

-- name: claim_tokens
WITH x AS MATERIALIZED (SELECT name FROM token WHERE name >= :prefix::text AND name < :last::text
                           AND (owner IS NULL OR expires <= (SELECT penstock_now()))
                         ORDER BY priority DESC, name LIMIT :limit::bigint FOR UPDATE SKIP LOCKED)
UPDATE token SET version = nextval(pg_get_serial_sequence('token', 'version')), owner = :owner::text,
       expires = penstock_now() + :lease::interval FROM x
 WHERE token.name = x.name
RETURNING token.name, token.version, token.owner, token.expires, token.priority, token.data;
