"""Runs without a store: for calls, `penstock run` and tests.

The same decisions, carried out in the caller's thread or loop.
Nothing here is durable.
"""
