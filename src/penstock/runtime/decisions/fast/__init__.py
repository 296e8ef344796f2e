"""The short way of plain steps.

It gives exactly what `plan_to_change` gives; the tests compare the two.
Nothing here may decide anything that the plain way does not.
"""
