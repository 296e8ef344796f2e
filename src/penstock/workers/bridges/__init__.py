"""Bridges to Celery and Ray: tasks of those systems, claimed and reported through the gate like all others.

Not here: running Python tasks of Penstock itself (`workers.execute`).
"""
