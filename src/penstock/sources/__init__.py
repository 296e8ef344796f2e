"""What starts runs and sends them events: schedules, hooks, object stores, brokers.

Not here: decisions. A source verifies and translates, then calls the commands of `runtime`.
"""
