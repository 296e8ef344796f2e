"""Commands about workflows and runs: start, list, watch, act, approve, explain, repair.

Not here: commands that need no server (`cli.author`).
"""
