"""The release coordinator: an application that publishes a data release with many task services, or not at all.

A release is a run of the workflow in `release.yaml`; what is shown of it is read from the history of that run.
Not here: anything that needs more than the public surface of Penstock.
"""
