"""What callers do to runs: start, emit, cancel, pause, retry, repair, one or many.

Each checks its input and who may do it, then hands an input to the run.
Reading is in `queries`.
"""
