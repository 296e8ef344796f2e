"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import health, runs, tasks

CALLS: tuple[Call, ...] = tuple(call for noun in (health, runs, tasks) for call in noun.calls.list)
