"""A node: the background loops and caches that keep the runs of one store going.

Clocks, ids, timers, retention, the supervisor that restarts loops.
Not here: what callers request (`commands` and `queries`).
"""
