-- name: insert_letter
INSERT INTO outbox (bus, topic, run, body, at)
SELECT bus, topic, run, body, :now::timestamptz
  FROM unnest(:bus::text[], :topic::text[], :run::text[], :body::bytea[]) WITH ORDINALITY AS x (bus, topic, run, body, ord)
 ORDER BY ord;

-- name: next_topic
SELECT topic FROM outbox WHERE bus = :bus::text AND topic > :after::text ORDER BY topic LIMIT 1;

-- name: letters_of_topic
SELECT id, run, topic, body FROM outbox WHERE bus = :bus::text AND topic = :topic::text ORDER BY id LIMIT :limit::bigint;

-- name: drop_letter
DELETE FROM outbox WHERE id = ANY(:ids::bigint[]);

-- name: outbox_sizes
SELECT bus, topic, count(*) AS waiting, min(at) AS oldest FROM outbox GROUP BY bus, topic ORDER BY bus, topic;
