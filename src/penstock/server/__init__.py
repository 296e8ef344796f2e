"""The composition root of a server: settings become objects, and objects a process.

Not here: behaviour. Whatever another package can do, it does.
"""
