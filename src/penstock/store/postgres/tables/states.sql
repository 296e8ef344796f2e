-- name: states_of_runs
SELECT id, workflow, status, seq, subject FROM run WHERE id = ANY(:runs::text[]) ORDER BY id;
