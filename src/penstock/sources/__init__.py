"""What comes from outside, translated: verified calls become runs and events."""
