"""What is written and read, as plain values: changes, rows, filters.

Nothing here speaks SQL.
"""
