"""What callers read: runs, lists, history, marking, why, incidents, statistics, the change feed.

Everything is bounded: a page has a limit of items and of bytes.
Nothing here writes.
"""
