"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import (
    access,
    acting,
    calls,
    checks,
    drafts,
    events,
    health,
    operations,
    runs,
    secrets,
    views,
    workflows,
)

NOUNS = (health, workflows, drafts, checks, calls, runs, acting, events, operations, views, access, secrets)
CALLS: tuple[Call, ...] = tuple(call for noun in NOUNS for call in noun.calls.list)
