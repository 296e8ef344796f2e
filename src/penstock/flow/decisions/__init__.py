"""The decision: what happened to a run, and all that follows from it as a plan (rules R1 to R13).

One module for each verb: begin, dispatch, emit, finish, end, withdraw, fork, repair, retry.
`advance` is the entry. Nothing here acts: the plan is data.
"""
