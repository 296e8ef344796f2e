"""Running tasks: in place, on the loop, in threads, in processes; and calling one function safely.

Leases and reports are in `worker`.
"""
