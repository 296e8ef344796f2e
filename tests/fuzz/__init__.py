"""Decoders of what strangers send, tried with inputs that nobody thought of."""
