"""Workers over HTTP: polls, reports, offers and lease tokens, in front of the task gate.

Not here: which worker gets a task. `runtime.dispatch` decides that.
"""
