"""The checks: findings, each with a plain sentence and a hint. docs/reference/checks.md lists them.

Not here: the search of the net (`kernel.proof`).
"""
