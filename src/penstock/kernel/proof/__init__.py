"""The proof: what can go wrong in any run of a net, found before it runs. docs/spec/soundness.md has its rules.

Not here: the words of findings (`flow.checks`).
"""
