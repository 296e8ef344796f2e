"""Runs without a store: for calls, `penstock run` and tests.

The same decisions, carried out in the caller's thread or loop.
Not here: anything durable.
"""
