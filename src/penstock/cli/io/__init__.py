"""How commands read and write: targets, inputs, tables, times, problems, completion.

Nothing here is a command.
"""
