"""Commands for operators: database, access, secrets, workers and queues, doctor."""
