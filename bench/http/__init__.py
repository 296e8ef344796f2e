"""The service measured: over HTTP, beside the bare framework, each in a process of its own."""
