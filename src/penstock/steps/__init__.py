"""The built-in boxes: what each kind of step does when it is entered. Pure; the others queue a task."""
