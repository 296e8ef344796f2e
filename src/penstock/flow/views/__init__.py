"""Runs as people and programs read them: the JSON of a run, and its state after any history entry.

Both are computed from values alone.
Not here: decisions.
"""
