"""Commands for authors: check, run, simulate, draw, import, export, tasks, examples.

Not here: commands that need a server.
"""
