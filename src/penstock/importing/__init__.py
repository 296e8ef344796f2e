"""Definitions of other engines, translated to Penstock's. What cannot be translated is reported in plain sentences.

Not here: I/O. It is pure.
"""
