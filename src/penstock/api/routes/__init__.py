"""The calls, by noun. `table` joins them."""
