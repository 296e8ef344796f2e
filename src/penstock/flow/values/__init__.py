"""Small values and the rules about them: durations, schedules, payloads, JSON schemas.

Each module stands alone and knows nothing of workflows.
Nothing here reads a clock: a moment is an argument.
"""
