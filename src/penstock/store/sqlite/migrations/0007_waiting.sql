-- Among a million tasks that wait, the runs at one step and the tasks that a pause holds are found by these. A task that
-- goes to a worker at once is in neither. The columns of a condition are in its index: SQLite would read the row for them.
CREATE INDEX task_by_step ON task (step, run, worker) WHERE worker IS NULL;
CREATE INDEX task_held ON task (task_list, worker, held) WHERE worker IS NULL AND held = 1;
DROP INDEX task_ready;
CREATE INDEX task_ready ON task (task_list, priority DESC, turn, task, worker, held) WHERE worker IS NULL AND held = 0;
