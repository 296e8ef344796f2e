"""The JSON Schema of the definition format, which is published as `penstock-1.schema.json`."""
