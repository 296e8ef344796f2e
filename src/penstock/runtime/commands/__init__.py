"""What callers do to runs: start, emit, cancel, pause, retry, repair, one or many.

Each checks its input and the caller's permission, then hands an input to the run.
Not here: reading, which is in `queries`.
"""
