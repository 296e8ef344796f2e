"""Running tasks: in place, on the loop, in threads, in processes; and calling one function safely.

Not here: leases and reports, which are in `worker`.
"""
