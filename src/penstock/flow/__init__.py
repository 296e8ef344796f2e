"""Workflows: their definition, their compilation to a net, and the pure decision that advances a run."""
