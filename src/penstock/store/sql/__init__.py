"""SQL that both databases share: named queries, run lists, migrations, backup files.

Not here: anything that depends on the database.
"""
