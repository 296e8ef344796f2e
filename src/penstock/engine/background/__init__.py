"""What an engine does in the background: built-in tasks, the outbox, webhooks, reminders.

Each is one loop or one service, started by `services`.
Not here: decisions about runs.
"""
