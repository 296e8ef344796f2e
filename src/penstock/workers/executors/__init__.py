"""Places where Python tasks can run other than in the worker's own process."""
