"""The HTTP surface: one table of calls makes routes, permissions and the description."""
