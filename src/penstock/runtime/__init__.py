"""One node: it decides about runs in batches, keeps them in a store, and hands out their tasks.

Not here: rules of runs (`flow`), SQL (`store`), and running tasks (`workers`).
"""
