"""Triggers: sources that must be read (a clock, a folder, a topic), and the lease of the node that reads one.

Each trigger has one reader at a time.
Not here: what a source reads.
"""
