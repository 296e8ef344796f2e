"""The secrets of an installation: keys, sealed values, and their redaction from what tasks say.

Who may set or list them is decided in `access`; where they are stored, in `store`.
"""
