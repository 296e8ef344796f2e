"""Committing a batch of decisions at once; if a change does not fit, it is found and the rest is committed.

Lock grants and correlation keys are settled in the same transaction.
Not here: the rules, which are in `store.rules`.
"""
