-- name: insert_access_token
INSERT INTO access_token (id, role, name, digest, workflows, task_lists, concurrency, expires_at, made_by, made_at)
VALUES (:id::text, :role::text, :name::text, :digest::bytea, :workflows::text[], :task_lists::text[],
        :concurrency::integer, COALESCE(:expires_at::timestamptz, 'infinity'), :made_by::text, penstock_now())
ON CONFLICT (id) DO NOTHING RETURNING id;

-- part: access_token
SELECT id, role, name, digest, workflows, task_lists, concurrency, NULLIF(expires_at, 'infinity') AS expires_at, made_by,
       made_at, used_at, revoked_at,
       CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= penstock_now() THEN 'expired'
            ELSE 'live' END AS state
  FROM access_token

-- name: one_access_token
-- use: access_token
 WHERE id = :id::text;

-- name: list_access_tokens
-- use: access_token
 WHERE id < :before::text ORDER BY id DESC LIMIT :limit::bigint;

-- name: revoke_access_token
UPDATE access_token SET revoked_at = penstock_now() WHERE id = :id::text AND revoked_at IS NULL RETURNING id;

-- name: use_access_token
-- In the order of their ids, and never waited for: another node notes the same.
UPDATE access_token SET used_at = penstock_now()
 WHERE id IN (SELECT id FROM access_token WHERE id = ANY(:ids::text[])
                 AND (used_at IS NULL OR used_at <= penstock_now() - :apart::interval) ORDER BY id
                 FOR UPDATE SKIP LOCKED);

-- name: insert_session
INSERT INTO session (digest, name, role, token_id, workflows, ip, made_at, seen_at, until)
SELECT :digest::bytea, :name::text, :role::text, :token_id::text, :workflows::text[], :ip::text, now, now,
       now + :lasts::interval FROM penstock_now() AS now;

-- name: one_session
SELECT digest, name, role, token_id, workflows, ip, made_at, seen_at, until FROM session
 WHERE digest = :digest::bytea AND until > penstock_now() AND seen_at > penstock_now() - :idle::interval;

-- name: use_session
UPDATE session SET seen_at = penstock_now()
 WHERE digest IN (SELECT digest FROM session WHERE digest = ANY(:digests::bytea[])
                     AND seen_at <= penstock_now() - :apart::interval ORDER BY digest FOR UPDATE SKIP LOCKED);

-- name: drop_session
DELETE FROM session WHERE digest = ANY(:digests::bytea[]) RETURNING digest;

-- name: drop_sessions_of_name
DELETE FROM session WHERE name = ANY(:names::text[]) RETURNING digest;

-- name: drop_outdated_sessions
DELETE FROM session WHERE digest IN
  (SELECT digest FROM session WHERE until <= penstock_now() ORDER BY until FOR UPDATE SKIP LOCKED);

-- name: insert_login
INSERT INTO login (digest, nonce, verifier, back_to, until)
VALUES (:digest::bytea, :nonce::text, :verifier::text, :back_to::text, penstock_now() + :lasts::interval);

-- name: take_login
DELETE FROM login WHERE digest = :digest::bytea
RETURNING digest, nonce, verifier, back_to, until > penstock_now() AS live;

-- name: drop_outdated_logins
DELETE FROM login WHERE digest IN
  (SELECT digest FROM login WHERE until <= penstock_now() ORDER BY until FOR UPDATE SKIP LOCKED);

-- name: lock_secrets
-- Until the end of the transaction: two nodes that set the first secrets must not do so with two keys.
LOCK TABLE secret IN SHARE ROW EXCLUSIVE MODE;

-- name: secret_keys
SELECT key_id, md5(string_agg(concat_ws(' ', name, version, updated_at), ',' ORDER BY name)) FROM secret GROUP BY key_id;

-- name: put_secret
INSERT INTO secret (name, version, key_id, sealed, updated_at)
SELECT :name::text, 1, :key_id::text, :sealed::bytea, penstock_now()
 WHERE NOT EXISTS (SELECT 1 FROM secret WHERE key_id <> ALL(:known::text[]))
   AND (NOT EXISTS (SELECT 1 FROM secret) OR EXISTS (SELECT 1 FROM secret WHERE key_id = :key_id::text))
ON CONFLICT (name) DO UPDATE SET version = secret.version + 1, key_id = excluded.key_id, sealed = excluded.sealed,
                                 updated_at = excluded.updated_at
RETURNING name, version, key_id, sealed, updated_at;

-- name: one_secret
SELECT name, version, key_id, sealed, updated_at FROM secret WHERE name = ANY(:names::text[]);

-- name: list_secrets
SELECT name, version, key_id, sealed, updated_at FROM secret WHERE name > :after::text ORDER BY name LIMIT :limit::bigint;

-- name: reseal_secret
-- Only what was read: a value that was set meanwhile stays.
UPDATE secret SET key_id = :key_id::text, sealed = :sealed::bytea WHERE name = :name::text AND sealed = :was::bytea
RETURNING name, version, key_id, sealed, updated_at;

-- name: drop_secret
DELETE FROM secret WHERE name = :name::text RETURNING name;

-- name: lock_audit
-- Until the end of the transaction: the chain has one end. Taken last, so that nobody who waits for it is waited for.
SELECT value, penstock_now() AS now FROM setting WHERE name = 'audit' FOR UPDATE;

-- name: insert_audit
INSERT INTO audit (number, at, actor, token_id, ip, action, target, was, became, reason, hash)
SELECT * FROM unnest(:number::bigint[], :at::timestamptz[], :actor::text[], :token_id::text[], :ip::text[], :action::text[],
                     :target::text[], :was::bytea[], :became::bytea[], :reason::text[], :hash::bytea[]);

-- part: audit
SELECT number, at, actor, token_id, ip, action, target, was, became, reason, hash FROM audit

-- name: newest_audits
-- use: audit
 WHERE number < :before::bigint ORDER BY number DESC LIMIT :limit::bigint;

-- name: next_audits
-- use: audit
 WHERE number > :after::bigint ORDER BY number LIMIT :limit::bigint;
