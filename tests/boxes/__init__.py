"""The built-in tasks that act on the world."""
