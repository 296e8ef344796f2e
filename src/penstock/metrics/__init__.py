"""What operators see: metrics, logs and traces.

Not here: anything that the engine needs. These modules observe, and the engine does not know them.
"""
