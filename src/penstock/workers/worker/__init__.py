"""The worker: claims tasks from a gate, renews their leases and reports how they ended.

Not here: how a task is run (`execute`).
"""
