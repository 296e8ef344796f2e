"""Schedules as sources: which ticks are due, what each becomes, backfills, and the list of schedules.

Not here: the language of schedules (`flow.values.schedule`).
"""
