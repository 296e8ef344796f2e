"""A Penstock elsewhere, over HTTP."""
