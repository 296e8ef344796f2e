"""The secrets of an installation: keys, sealed values, and their redaction from what tasks report.

Not here: who may set or list them (`access`), and their rows (`store`).
"""
