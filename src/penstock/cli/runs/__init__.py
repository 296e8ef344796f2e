"""Commands about workflows and runs: start, list, watch, act, approve, explain, repair."""
