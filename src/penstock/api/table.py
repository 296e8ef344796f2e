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
    front,
    health,
    hooks,
    operations,
    overseeing,
    runs,
    secrets,
    streams,
    tasks,
    tokens,
    views,
    workflows,
)

NOUNS = (
    front,
    health,
    hooks,
    workflows,
    drafts,
    checks,
    calls,
    runs,
    overseeing,
    acting,
    tokens,
    events,
    streams,
    tasks,
    operations,
    views,
    access,
    secrets,
)
CALLS: tuple[Call, ...] = tuple(call for noun in NOUNS for call in noun.calls.list)
