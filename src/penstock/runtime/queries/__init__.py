"""What callers read: runs, lists, history, marking, why, incidents, statistics, the change feed.

Every page has a limit of items and of bytes.
Not here: writes.
"""
