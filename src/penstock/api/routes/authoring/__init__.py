"""Calls for authors: definitions, checks, drafts, imports, trials, schedules.

A handler reads, authorises, calls one thing and answers.
Calls about runs stand one folder up.
"""
