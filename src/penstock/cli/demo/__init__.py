"""`penstock demo`: the example workflows, the services that they need, and the tour.

Not here: the examples themselves, which are in `examples/`.
"""
