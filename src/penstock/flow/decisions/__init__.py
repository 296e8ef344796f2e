"""The decision: what happened to a run, and all that follows from it as a plan (rules R1 to R13).

One module for each verb; `advance` is the entry.
Not here: actions. The plan is data.
"""
