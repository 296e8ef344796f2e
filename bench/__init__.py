"""Penstock beside its neighbours: `python -m bench.setup` installs them, `python -m bench` measures.

What a neighbour imports of this package (`bench.peers`) needs nothing but Python itself.
"""
