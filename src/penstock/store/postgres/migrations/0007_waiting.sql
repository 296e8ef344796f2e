-- Among a million tasks that wait, the runs at one step and the tasks that a pause holds are found by these. A task that
-- goes to a worker at once is in neither.
CREATE INDEX task_by_step ON task (step, run) WHERE worker IS NULL;
CREATE INDEX task_held ON task (task_list) WHERE worker IS NULL AND held;
