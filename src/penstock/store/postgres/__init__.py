"""The store on PostgreSQL: any number of equal nodes, no session state, time from the database.

Not here: rules that SQLite shares (`store.rules` and `store.sql`).
"""
