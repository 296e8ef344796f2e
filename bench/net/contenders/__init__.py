"""One module a contender: its version, and its works, by the names that all contenders share."""
