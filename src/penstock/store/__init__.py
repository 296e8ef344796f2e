"""Rows: what is kept, in SQLite and in PostgreSQL, behind one narrow interface."""
