"""Rows: what is stored, in SQLite and in PostgreSQL, behind narrow roles.

Not here: what rows mean. Runs are bytes to a store; `runtime.codec` reads them.
"""
