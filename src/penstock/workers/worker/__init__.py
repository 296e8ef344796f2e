"""The worker: claims tasks from a gate, keeps their leases and reports how they ended.

How a task is run is in `execute`.
"""
