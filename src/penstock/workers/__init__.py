"""Tasks in Python, and the workers that run them.

Not here: which task goes to which worker (`runtime.dispatch`).
"""
