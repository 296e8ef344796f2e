"""The command line: one folder for each panel of `penstock --help`, and `io` for all of them.

Not here: what a command does. It calls `engine` here, or a server through `remote`.
"""
