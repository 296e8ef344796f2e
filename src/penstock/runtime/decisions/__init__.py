"""From inputs of runs to rows: batches of decisions, one transaction each.

`advancer` gathers and commits; `plan_to_change` turns a plan into a change of rows.
Not here: SQL and tasks.
"""
