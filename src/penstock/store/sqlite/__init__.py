"""The store on SQLite: one file, one process, one writer whose commits share an fsync.

Not here: rules that PostgreSQL shares (`store.rules` and `store.sql`).
"""
