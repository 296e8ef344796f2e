"""Runs as bytes: snapshots, history and messages, each payload encoded once.

Not here: I/O, and the JSON that callers see (`flow.views`).
"""
