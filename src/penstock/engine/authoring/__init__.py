"""From a text to a published version: load, check, drafts, publication, offers of tasks.

The editor, the CLI and programs all publish this way.
Not here: runs, which `runtime` handles.
"""
