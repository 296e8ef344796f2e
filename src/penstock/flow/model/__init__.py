"""What a workflow and a run are: plain, frozen values.

Definitions, offers, snapshots, plans and every input of a run.
Not here: decisions and texts. It imports only `flow.values`.
"""
