"""Lists of runs that people keep: a name for a filter."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.reading import fit
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
async def list_views(ask: RequestContext[None, Counted]) -> Page[View]:
    """The lists of runs that are kept, by name; without those of workflows that the caller does not see."""
    kept = await ask.service.store.notes(PREFIX)
    views = [_view(name.removeprefix(PREFIX), text) for name, text in kept.items()]
    return ask.query.cut(
        [each for each in views if "workflow" not in each.filter or ask.caller.sees(each.filter["workflow"])]
    )


@calls.put("/api/views/{name}", "operate", everywhere=True, takes=SaveView, gives=View, statuses=(201,))
async def save_view(ask: RequestContext[SaveView, None]) -> Reply:
    """Keep a list of runs under a name."""
    name: str = fit(ask.path["name"], Name)
    text = msgspec.json.encode(ask.body).decode()
    kept = await ask.service.store.notes(PREFIX)
    if PREFIX + name not in kept and len(kept) >= MAX_VIEWS:
        raise Invalid(f"{MAX_VIEWS} views are kept, as many as there may be: drop one that nobody needs")
    was = await ask.service.store.put_note(PREFIX + name, text, audit_for(name, after=text))
    return Reply(View(name, ask.body.title, ask.body.filter), 200 if was else 201)


@calls.delete("/api/views/{name}", "operate", everywhere=True, status=204)
async def drop_view(ask: RequestContext[None, None]) -> None:
    """Forget a list of runs."""
    name = ask.path["name"]
    if not await ask.service.store.put_note(PREFIX + name, None, audit_for(name)):
        raise UnknownView(name)


def _view(name: str, text: str) -> View:
    kept: Any = msgspec.json.decode(text, type=SaveView)
    return View(name, kept.title, kept.filter)
