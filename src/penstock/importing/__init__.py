"""Definitions of other engines, as Penstock's: pure. What cannot be carried over is said in plain sentences."""
