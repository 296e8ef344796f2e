"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import front, health, operations, runs, views

CALLS: tuple[Call, ...] = tuple(
    call for noun in (front, health, operations, runs, views) for call in noun.calls.list
)
