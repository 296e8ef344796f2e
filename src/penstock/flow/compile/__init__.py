"""From a definition to a flow: the net, and each step with its expressions compiled once.

Whatever can be worked out before the first run is worked out here.
Nothing here knows a run.
"""
