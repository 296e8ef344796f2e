"""Hooks: calls from outside are verified, read and mapped to runs and events.

Signatures, SNS, CloudEvents.
Nothing of an unverified call is stored.
"""
