"""One module and one `.sql` file for each group of tables, with the same names in both databases.

Not here: committing decisions, which is in `commit`.
"""
