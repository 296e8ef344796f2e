"""The handlers, one module for each noun. `api.table` joins them.

Not here: what a call does. A handler reads, authorises, calls one thing and answers.
"""
