"""Penstock inside your own program: `Engine` and its parts, one for each group of public methods.

Not here: decisions about runs and their batches (`runtime`), and HTTP (`api`).
"""
