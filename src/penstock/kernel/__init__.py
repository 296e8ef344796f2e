"""The heart: nets, markings, firing, and the proof that a net can finish. Pure: no I/O, no clock."""
