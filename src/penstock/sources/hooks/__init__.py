"""Hooks: calls from outside are verified, read and mapped to runs and events. Signatures, SNS, CloudEvents.

Not here: HTTP (`api`). Nothing of an unverified call is stored.
"""
