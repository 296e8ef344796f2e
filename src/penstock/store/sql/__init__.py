"""SQL that both databases share: named queries, run lists, migrations, backup files.

Nothing here knows which database it is.
"""
