"""Workers behind HTTP: polls, reports and offers, in front of the task gate."""
