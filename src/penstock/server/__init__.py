"""The composition root of a service: settings become objects."""
