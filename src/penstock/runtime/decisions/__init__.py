"""From what happened to a run to the rows that are written: batches of decisions, one transaction each.

`advancer` gathers and commits; `plan_to_change` turns a plan into a change of rows.
Nothing here speaks SQL or calls tasks.
"""
