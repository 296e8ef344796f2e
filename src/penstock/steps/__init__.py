"""The built-in boxes: what each kind of step does when it is entered.

Not here: I/O. A step that needs it queues a task, which `boxes` or a worker runs.
"""
