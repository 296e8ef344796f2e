"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import health, operations, runs, tasks, views

CALLS: tuple[Call, ...] = tuple(
    call for noun in (health, operations, runs, tasks, views) for call in noun.calls.list
)
