"""What a commit decides, for both databases: which changes fit, and who is given keys and events.

Pure: rows come in as plain values. The statements that read and write them are in `sqlite` and `postgres`.
"""
