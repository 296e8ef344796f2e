"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import health, runs

CALLS: tuple[Call, ...] = tuple(call for noun in (health, runs) for call in noun.calls.list)
