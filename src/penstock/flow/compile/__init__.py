"""From a definition to a flow: the net, and each step with its expressions compiled once.

Everything that can be computed before the first run is computed here.
Not here: runs.
"""
