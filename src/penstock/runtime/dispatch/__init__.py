"""The task gate: which worker gets which task, and how reports come back.

Worker slots, reservations, the backlog of the store, duplicate reports, redaction of what tasks say.
Running a task is the business of `workers`.
"""
