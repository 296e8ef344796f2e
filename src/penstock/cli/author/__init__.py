"""Commands for authors: check, run, simulate, draw, import, export, tasks, examples.

They need no server.
"""
