"""Committing a batch of decisions: all at once; where one does not fit, the conflicts are found.

Lock grants and correlation keys are settled in the same transaction.
"""
