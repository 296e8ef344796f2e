"""A client of another Penstock over HTTP, for the command line and for workers.

Not here: anything that opens a store.
"""
