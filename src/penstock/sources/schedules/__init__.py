"""Schedules as sources: which ticks are due, what becomes of one, backfills, and how schedules are shown."""
