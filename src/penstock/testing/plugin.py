"""The pytest plug-in."""
