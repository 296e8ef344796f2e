"""Saved lists of runs: a name for a filter."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.request_body import fit
from penstock.api.wire.views import Name, SaveView, View
from penstock.runtime.errors import Invalid, NotFound
from penstock.runtime.node.audit_context import audit_for

calls = Calls("views")
PREFIX = "view/"
MAX_VIEWS = 1000
"""Views that are kept: all of them are read whenever somebody looks at the list."""


class UnknownView(NotFound):
    """No list of runs is kept under that name."""

    code = "unknown_view"

    def __init__(self, name: str) -> None:
        super().__init__(f"no view '{name}' is kept: see GET /api/views")


@calls.get("/api/views", "read", query=Counted, gives=Page[View])
async def list_views(context: RequestContext[None, Counted]) -> Page[View]:
    """The lists of runs that are kept, by name; without those of workflows that the caller does not see."""
    kept = await context.service.store.notes(PREFIX)
    views = [_view(name.removeprefix(PREFIX), text) for name, text in kept.items()]
    sees = context.caller.sees
    seen = [each for each in views if "workflow" not in each.filter or sees(each.filter["workflow"])]
    return context.query.cut(seen)


@calls.put("/api/views/{name}", "operate", everywhere=True, takes=SaveView, gives=View, statuses=(201,))
async def save_view(context: RequestContext[SaveView, None]) -> Reply:
    """Keep a list of runs under a name."""
    name: str = fit(context.path["name"], Name)
    text = msgspec.json.encode(context.body).decode()
    kept = await context.service.store.notes(PREFIX)
    if PREFIX + name not in kept and len(kept) >= MAX_VIEWS:
        raise Invalid(f"{MAX_VIEWS} views are kept, as many as there may be: drop one that nobody needs")
    was = await context.service.store.put_note(PREFIX + name, text, audit_for(name, after=text))
    return Reply(View(name, context.body.title, context.body.filter), 201 if was is None else 200)


@calls.delete("/api/views/{name}", "operate", everywhere=True, status=204)
async def drop_view(context: RequestContext[None, None]) -> None:
    """Forget a list of runs."""
    name = context.path["name"]
    if await context.service.store.put_note(PREFIX + name, None, audit_for(name)) is None:
        raise UnknownView(name)


def _view(name: str, text: str) -> View:
    kept: Any = msgspec.json.decode(text, type=SaveView)
    return View(name, kept.title, kept.filter)
