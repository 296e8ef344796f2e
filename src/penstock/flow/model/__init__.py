"""What a workflow and a run are: plain, frozen values.

Definitions, compiled offers, snapshots, plans and everything that can happen to a run live here.
Nothing here decides or reads text; it imports only `flow.values`.
"""
