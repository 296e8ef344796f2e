"""The durable engine beside its floor: `python -m bench.suites engine`."""
