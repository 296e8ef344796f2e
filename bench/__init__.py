"""Penstock beside its neighbours: `python -m bench.setup` installs them, `python -m bench` measures.

`python -m bench.suites` measures one kind of cost at a time: `net` (in memory), `engine`, `http`, `sources`.

What a neighbour imports of this package (`bench.peers`) needs nothing but Python itself.
"""
