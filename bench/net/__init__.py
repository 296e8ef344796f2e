"""What a step costs in memory, compared with other engines: `python -m bench.suites net`."""
