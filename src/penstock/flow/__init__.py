"""Workflows: their definition, their compilation to a net, and the pure decision that advances a run.

Not here: I/O, clocks and rows. Time is an argument, and `runtime` carries out the plans.
"""
