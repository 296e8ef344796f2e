"""The web pages as they were built: which files exist, and the type of each.

Not here: their source, which is in `web/`.
"""
