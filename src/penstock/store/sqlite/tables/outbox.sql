-- name: insert_letter
INSERT INTO outbox (id, bus, topic, run, body, at) VALUES (:id, :bus, :topic, :run, :body, :at);

-- name: next_topic
SELECT topic FROM outbox WHERE bus = :bus AND topic > :after ORDER BY topic LIMIT 1;

-- name: letters_of_topic
SELECT id, run, body FROM outbox WHERE bus = :bus AND topic = :topic ORDER BY id LIMIT :limit;

-- name: drop_letter
DELETE FROM outbox WHERE id = :id;

-- name: outbox_sizes
SELECT bus, topic, count(*), min(at) FROM outbox GROUP BY bus, topic ORDER BY bus, topic;
