"""The format: definitions in YAML and JSON, read and written; `penstock-1.schema.json` describes it.

Not here: whether a workflow makes sense (`flow.checks`).
"""
