"""A node: what keeps runs going on one store, and the background loops and caches it is made of.

Clocks, ids, timers, retention, the supervisor that restarts loops.
What callers ask for is in `commands` and `queries`.
"""
