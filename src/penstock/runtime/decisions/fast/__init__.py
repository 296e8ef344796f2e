"""The fast path of plain steps: the only shortcut below `advance`.

It gives exactly what `advance` and `plan_to_change` give; tests compare the two.
Not here: rules of its own.
"""
