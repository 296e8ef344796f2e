"""How commands read and write: targets, inputs, tables, times, problems, completion.

Not here: commands.
"""
