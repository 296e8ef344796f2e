"""The format: definitions in YAML and JSON, read, written, and described by a schema."""
