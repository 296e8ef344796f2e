-- Most of what is written: runs that are made and that go on, with their history, and the tasks of their steps.

-- part: new_runs
asked AS MATERIALIZED (
    SELECT * FROM ROWS FROM (
                      json_array_elements_text(:run::json), json_array_elements_text(:revision::json),
                      json_array_elements_text(:seq::json), json_array_elements_text(:status::json),
                      json_array_elements_text(:ended_at::json), json_array_elements_text(:waiting::json),
                      json_array_elements_text(:head::json), json_array_elements_text(:page_from::json),
                      json_array_elements_text(:page::json), json_array_elements_text(:workflow::json),
                      json_array_elements_text(:version::json), json_array_elements_text(:subject::json),
                      json_array_elements_text(:parent::json), json_array_elements_text(:labels::json),
                      json_array_elements_text(:started_at::json), json_array_elements_text(:header::json))
           AS x (id, revision, seq, status, ended_at, waiting, head, page_from, page, workflow, version, subject,
                 parent, labels, started_at, header)
     WHERE NOT EXISTS (SELECT 1 FROM wrong)),
done AS (
    INSERT INTO run (id, revision, seq, status, ended_at, waiting, head, workflow, version, subject, parent, labels,
                     started_at, header)
    SELECT id, revision::bigint, seq::bigint, status, ended_at::timestamptz, waiting::jsonb, decode(head, 'base64'),
           workflow, version::integer, subject, parent, labels::jsonb, started_at::timestamptz,
           decode(header, 'base64')
      FROM asked
    ON CONFLICT (id) DO NOTHING
    RETURNING id),
told AS (
    INSERT INTO history (run, seq, last, body)
    SELECT id, page_from::bigint, seq::bigint, decode(page, 'base64') FROM asked JOIN done USING (id)
     WHERE page IS NOT NULL)

-- part: new_tasks
-- With a worker a task is leased at once. Fences begin where the last restore says.
-- Most tasks of a batch are of few kinds: what those of a kind have in common comes once.
base AS MATERIALIZED (SELECT COALESCE((SELECT value::bigint FROM setting WHERE name = 'fence'), 0) AS fence),
kind AS MATERIALIZED (
    SELECT x.*, CASE WHEN worker IS NOT NULL THEN now + run_for END AS stop_by,
           CASE WHEN worker IS NOT NULL THEN now + beat END AS lease_until
      FROM unnest(:task::text[], :task_list::text[], :priority::integer[], :worker::text[], :beat::interval[],
                  :start_within::interval[], :run_for::interval[], :end_within::interval[], :held::boolean[], :step::text[])
           WITH ORDINALITY AS x (task, task_list, priority, worker, beat, start_within, run_for, end_within, held,
                                 step, number), clock),
made AS (
    INSERT INTO task (run, firing, idx, attempt, fence, task, task_list, priority, queued_at, started_at, worker, beat,
                      start_within, run_for, end_within, start_by, stop_by, end_by, lease_until, expires, held, step)
    SELECT run, firing::bigint, idx::bigint, attempt::integer, base.fence + CASE WHEN worker IS NULL THEN 0 ELSE 1 END,
           task, task_list, priority, now, CASE WHEN worker IS NOT NULL THEN now END, worker, beat, start_within, run_for,
           end_within, COALESCE(now + start_within, 'infinity'), COALESCE(stop_by, 'infinity'),
           COALESCE(now + end_within, 'infinity'), COALESCE(lease_until, 'infinity'),
           CASE WHEN held THEN 'infinity' ELSE COALESCE(LEAST(
               CASE WHEN worker IS NULL THEN now + start_within END, stop_by, now + end_within, lease_until),
               'infinity') END,
           held, step
      FROM ROWS FROM (json_array_elements_text(:of::json), json_array_elements_text(:firing::json),
                      json_array_elements_text(:idx::json), json_array_elements_text(:attempt::json),
                      json_array_elements_text(:kind::json)) WITH ORDINALITY AS x (run, firing, idx, attempt, kind, ord)
      JOIN kind ON kind.number = x.kind::bigint

-- name: insert_run
WITH wrong AS (SELECT 1 WHERE false),
-- use: new_runs
SELECT count(*), penstock_now() FROM done;

-- name: insert_task
-- Told is the fence of a first lease.
WITH clock AS MATERIALIZED (SELECT :now::timestamptz AS now),
-- use: new_tasks
      CROSS JOIN base CROSS JOIN clock
     ORDER BY ord)
SELECT fence + 1 FROM base;

-- name: begin_runs
-- Plain runs that are made, with all that is written of each, in one statement: nothing where what was believed of
-- their workflows is not so any more, and nothing of a run that is there already.
WITH clock AS MATERIALIZED (SELECT penstock_now() AS now),
halt AS MATERIALIZED (SELECT value = 'yes' AS halted FROM setting WHERE name = 'paused' FOR SHARE),
flow AS MATERIALIZED (
    SELECT name, paused, latest FROM workflow WHERE name = ANY(:names::text[]) ORDER BY name FOR SHARE),
wrong AS MATERIALIZED (
    SELECT flow.name FROM flow
      JOIN unnest(:names::text[], :pauses::boolean[], :halts::boolean[], :newest::integer[])
           AS said (name, paused, halted, latest) ON said.name = flow.name
     WHERE flow.paused <> said.paused OR flow.latest <> said.latest
        OR COALESCE((SELECT halted FROM halt), false) <> said.halted),
-- use: new_runs
,
-- use: new_tasks
      JOIN done ON done.id = x.run CROSS JOIN base CROSS JOIN clock
     ORDER BY ord)
SELECT (SELECT array_agg(id) FROM done), now, fence + 1 FROM clock, base;

-- name: advance_runs
-- Runs of which one task has ended, with all that is written of each, in one statement. Of a run at another revision,
-- or whose task another has now, or that ends and has keys for which others may wait, nothing is written.
-- Locked by id first: two batches that share runs would wait for each other otherwise.
WITH clock AS MATERIALIZED (SELECT penstock_now() AS now),
line AS MATERIALIZED (
    SELECT x.* FROM run
      JOIN ROWS FROM (json_array_elements_text(:run::json), json_array_elements_text(:base::json),
                      json_array_elements_text(:revision::json), json_array_elements_text(:seq::json),
                      json_array_elements_text(:status::json), json_array_elements_text(:ended_at::json),
                      json_array_elements_text(:waiting::json), json_array_elements_text(:head::json),
                      json_array_elements_text(:page_from::json), json_array_elements_text(:page::json),
                      json_array_elements_text(:over::json), json_array_elements_text(:ended::json),
                      json_array_elements_text(:place::json), json_array_elements_text(:try::json),
                      json_array_elements_text(:fence::json))
           AS x (id, base, revision, seq, status, ended_at, waiting, head, page_from, page, over, firing, idx, attempt,
                 fence) ON run.id = x.id
     WHERE run.revision = x.base::bigint
       AND NOT (x.over::boolean AND (EXISTS (SELECT FROM lock WHERE lock.run = x.id)
                                     OR EXISTS (SELECT FROM correlation WHERE correlation.run = x.id)))
     ORDER BY run.id FOR NO KEY UPDATE OF run),
gone AS (
    DELETE FROM task USING line AS x
     WHERE task.run = x.id AND task.firing = x.firing::bigint AND task.idx = x.idx::bigint
       AND task.attempt = x.attempt::integer AND task.fence = x.fence::bigint
    RETURNING task.run),
done AS (
    UPDATE run SET revision = x.revision::bigint, seq = x.seq::bigint, status = x.status,
           ended_at = x.ended_at::timestamptz, waiting = x.waiting::jsonb, head = decode(x.head, 'base64')
      FROM line AS x JOIN gone ON gone.run = x.id WHERE run.id = x.id
    RETURNING run.id, run.seq, page_from::bigint, decode(page, 'base64') AS page, over::boolean),
told AS (
    INSERT INTO history (run, seq, last, body) SELECT id, page_from, seq, page FROM done WHERE page IS NOT NULL),
others AS (DELETE FROM task USING done WHERE done.over AND task.run = done.id),
timers AS (DELETE FROM timer USING done WHERE done.over AND timer.run = done.id),
-- use: new_tasks
      JOIN done ON done.id = x.run CROSS JOIN base CROSS JOIN clock
     ORDER BY ord)
SELECT (SELECT array_agg(id) FROM done), now, fence + 1 FROM clock, base;
