"""Runs as bytes: snapshots, history and messages, each payload encoded once."""
