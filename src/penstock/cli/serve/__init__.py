"""Commands that stay: up, server, worker.

How such a process opens, says where it is, and stops.
"""
