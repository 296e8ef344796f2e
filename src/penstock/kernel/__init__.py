"""The heart: nets, markings, firing, and the proof that a net can finish.

Not here: I/O, clocks, and what steps do.
"""
