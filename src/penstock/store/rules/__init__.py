"""What a commit decides, for both databases: which changes fit, which events repeat, who is granted a key.

Pure: rows come in as plain values.
Not here: statements, which are in `sqlite` and `postgres`.
"""
