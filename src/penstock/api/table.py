"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import access, health, operations, runs, secrets, views

CALLS: tuple[Call, ...] = tuple(
    call for noun in (health, operations, runs, views, access, secrets) for call in noun.calls.list
)
