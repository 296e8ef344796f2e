"""The web pages as they were built: which files there are, and what each is. Their sources are in `web/`."""
