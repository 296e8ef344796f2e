"""Tasks in Python and whoever runs them."""
