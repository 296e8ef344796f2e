"""Penstock inside your own program: loading and checking definitions, publishing and running them."""
