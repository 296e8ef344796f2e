"""The built-in tasks that act on the world: HTTP, mail, shell, services. The server's own worker runs them.

Not here: their parameters, which `steps` describes, and tasks that do no I/O.
"""
