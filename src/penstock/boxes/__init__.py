"""The built-in tasks that act on the world, done by a worker of the server itself on the task list `penstock`."""
