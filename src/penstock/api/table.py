"""The table of all calls."""

from __future__ import annotations

from penstock.api.call import Call
from penstock.api.routes import (
    access,
    approvals,
    events,
    health,
    hooks,
    object_hooks,
    operations,
    pages,
    run_actions,
    runs,
    secrets,
    stores,
    streams,
    supervision,
    tasks,
    tokens,
    views,
)
from penstock.api.routes.authoring import calls, checks, drafts, expressions, imports, schedules, workflows

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
    supervision,
    run_actions,
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
