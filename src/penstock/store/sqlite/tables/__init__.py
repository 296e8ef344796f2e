"""One module and one `.sql` file for each group of tables.

The same names as in `store/postgres/tables`.
Committing decisions is in `commit`.
"""
