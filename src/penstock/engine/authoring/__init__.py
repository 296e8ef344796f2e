"""From a text to a published version: load, check, drafts, publication, offers of tasks.

The editor, the CLI and programs all publish this way.
Runs are the business of `runtime`.
"""
