"""Small values and the rules about them: durations, schedules, payloads, JSON schemas.

Each module stands alone.
Not here: workflows and clocks. A moment is an argument.
"""
