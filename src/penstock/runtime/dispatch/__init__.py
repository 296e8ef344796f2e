"""The task gate: which worker gets which task, and how reports come back.

Worker slots, reservations, backlog, duplicate reports, redaction of what tasks report.
Not here: running a task, which `workers` does.
"""
