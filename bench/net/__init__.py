"""What a step costs in memory, beside the neighbours: `python -m bench.suites net`."""
