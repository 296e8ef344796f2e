"""The secrets of an installation: keys, sealed values, and their redaction from what tasks say.

`access` decides who may set or list them; `store` keeps the rows.
"""
