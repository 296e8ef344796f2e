"""Time and processes: what plans say is done here."""
