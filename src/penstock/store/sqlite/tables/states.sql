-- name: states_of_runs
SELECT id, workflow, status, seq, subject FROM run WHERE id IN (SELECT value FROM json_each(:runs)) ORDER BY id;
