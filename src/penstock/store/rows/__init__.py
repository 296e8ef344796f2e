"""What is written and read, as plain values: changes, rows, filters.

Not here: SQL.
"""
