"""The fast path of plain steps: the only shortcut below `advance`.

It gives exactly what `advance` and `plan_to_change` give; the tests compare the two.
Nothing here may decide anything that the rules do not.
"""
