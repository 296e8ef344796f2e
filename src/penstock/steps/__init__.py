"""The built-in boxes: what each kind of step does when it is entered. Pure; those that act on the world queue a task."""
