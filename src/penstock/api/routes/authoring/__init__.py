"""Handlers for authors: definitions, checks, drafts, imports, trials, schedules.

A handler reads, authorises, calls one thing and answers.
Not here: calls about runs, which are in `api.routes`.
"""
