-- name: insert_access_token
INSERT INTO access_token (id, role, name, digest, workflows, task_lists, concurrency, expires_at, made_by, made_at)
VALUES (:id, :role, :name, :digest, :workflows, :task_lists, :concurrency, :expires_at, :made_by, :made_at)
ON CONFLICT (id) DO NOTHING;

-- part: access_token
SELECT id, role, name, digest, workflows, task_lists, concurrency, expires_at, made_by, made_at, used_at, revoked_at
  FROM access_token

-- name: one_access_token
-- use: access_token
 WHERE id = :id;

-- name: list_access_tokens
-- use: access_token
 WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: revoke_access_token
UPDATE access_token SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;

-- name: use_access_token
UPDATE access_token SET used_at = :now WHERE id = :id AND (used_at IS NULL OR used_at <= :before);

-- name: insert_session
INSERT INTO session (digest, name, role, token_id, workflows, ip, made_at, seen_at, until)
VALUES (:digest, :name, :role, :token_id, :workflows, :ip, :made_at, :seen_at, :until);

-- name: one_session
SELECT digest, name, role, token_id, workflows, ip, made_at, seen_at, until FROM session
 WHERE digest = :digest AND until > :now AND seen_at > :idle;

-- name: use_session
UPDATE session SET seen_at = :now WHERE digest = :digest AND seen_at <= :before;

-- name: drop_session
DELETE FROM session WHERE digest = :digest;

-- name: drop_sessions_of_name
DELETE FROM session WHERE name = :name;

-- name: drop_outdated_sessions
DELETE FROM session WHERE until <= :now;

-- name: insert_login
INSERT INTO login (digest, nonce, verifier, back_to, until) VALUES (:digest, :nonce, :verifier, :back_to, :until);

-- name: take_login
DELETE FROM login WHERE digest = :digest RETURNING digest, nonce, verifier, back_to, until;

-- name: drop_outdated_logins
DELETE FROM login WHERE until <= :now;

-- name: secret_keys
SELECT key_id, group_concat(name || ' ' || version || ' ' || updated_at ORDER BY name) FROM secret GROUP BY key_id;

-- name: put_secret
INSERT INTO secret (name, version, key_id, sealed, updated_at)
SELECT :name, 1, :key_id, :sealed, :now
 WHERE NOT EXISTS (SELECT 1 FROM secret WHERE key_id NOT IN (SELECT value FROM json_each(:known)))
   AND (NOT EXISTS (SELECT 1 FROM secret) OR EXISTS (SELECT 1 FROM secret WHERE key_id = :key_id))
ON CONFLICT (name) DO UPDATE SET version = secret.version + 1, key_id = excluded.key_id, sealed = excluded.sealed,
                                 updated_at = excluded.updated_at
RETURNING name, version, key_id, sealed, updated_at;

-- name: one_secret
SELECT name, version, key_id, sealed, updated_at FROM secret WHERE name = :name;

-- name: list_secrets
SELECT name, version, key_id, sealed, updated_at FROM secret WHERE name > :after ORDER BY name LIMIT :limit;

-- name: reseal_secret
-- Only what was read: a value that was set meanwhile stays.
UPDATE secret SET key_id = :key_id, sealed = :sealed WHERE name = :name AND sealed = :was
RETURNING name, version, key_id, sealed, updated_at;

-- name: drop_secret
DELETE FROM secret WHERE name = :name;

-- name: insert_audit
INSERT INTO audit (number, at, actor, token_id, ip, action, target, was, became, reason, hash)
VALUES (:number, :at, :actor, :token_id, :ip, :action, :target, :was, :became, :reason, :hash);

-- part: audit
SELECT number, at, actor, token_id, ip, action, target, was, became, reason, hash FROM audit

-- name: newest_audits
-- use: audit
 WHERE number < :before ORDER BY number DESC LIMIT :limit;

-- name: next_audits
-- use: audit
 WHERE number > :after ORDER BY number LIMIT :limit;
