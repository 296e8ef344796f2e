"""Triggers: a source that must be read (a clock, a folder, a topic) and the lease of the node that reads it.

Of each trigger one node is the reader at a time.
What a source reads is not known here.
"""
