"""The release coordinator: an application on Penstock's public surface.

Many task services publish a data release together, or not at all. A release is a run of the workflow in
`release.yaml`; what is shown of it is read from the history of that run.
"""
