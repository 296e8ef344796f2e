"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import checks, drafts, health, runs, workflows

CALLS: tuple[Call, ...] = tuple(
    call for noun in (health, workflows, drafts, checks, runs) for call in noun.calls.list
)
