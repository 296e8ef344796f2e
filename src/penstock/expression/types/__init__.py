"""Static types of expressions: from schemas, and how they fit.

Pure: nothing here knows a workflow, and nothing here evaluates.
"""
