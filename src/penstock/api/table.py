"""Every call there is."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import (
    access,
    acting,
    approvals,
    calls,
    checks,
    drafts,
    events,
    expressions,
    health,
    hooks,
    imports,
    object_hooks,
    operations,
    overseeing,
    pages,
    runs,
    schedules,
    secrets,
    stores,
    streams,
    tasks,
    tokens,
    views,
    workflows,
)

NOUNS = (
    pages,
    health,
    approvals,
    hooks,
    object_hooks,
    workflows,
    drafts,
    checks,
    imports,
    calls,
    expressions,
    runs,
    overseeing,
    acting,
    tokens,
    events,
    streams,
    tasks,
    schedules,
    operations,
    stores,
    views,
    access,
    secrets,
)
CALLS: tuple[Call, ...] = tuple(call for noun in NOUNS for call in noun.calls.list)
