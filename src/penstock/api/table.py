"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import acting, calls, checks, drafts, events, health, runs, streams, workflows

CALLS: tuple[Call, ...] = tuple(
    call
    for noun in (health, workflows, drafts, checks, calls, runs, acting, events, streams)
    for call in noun.calls.list
)
