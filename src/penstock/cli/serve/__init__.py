"""Commands that keep running: up, server, worker. How such a process starts, announces itself and stops.

Not here: how a server is composed (`server`).
"""
