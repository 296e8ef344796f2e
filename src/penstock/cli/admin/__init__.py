"""Commands for operators: database, access, secrets, workers and queues, doctor.

Not here: commands about runs (`cli.runs`).
"""
