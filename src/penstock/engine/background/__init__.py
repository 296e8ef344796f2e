"""What an engine does beside runs: built-in tasks, the outbox, webhooks, reminders.

Each is one loop or one service, started by `services`.
Nothing here decides about a run.
"""
