"""Who may come in and what they may do: tokens, sign-in, sessions, roles, rate limits, and the audit log.

Not here: HTTP (`api`), and the values of secrets (`secrets`).
"""
