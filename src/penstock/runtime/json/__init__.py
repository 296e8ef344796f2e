"""JSON from outside: a quick reader for plain input, a strict one that says what is wrong.

Both give the same values.
Not here: workflows.
"""
