"""The object stores, for operators."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.wire.stores import StoreSeen
from penstock.sources.objects.search import searches_of

calls = Calls("operations")


@calls.get("/api/stores", "read", everywhere=True, query=Counted, gives=Page[StoreSeen])
async def list_stores(context: RequestContext[None, Counted]) -> Page[Any]:
    """The object stores: whether each answers, what it told last, and how far searches of it are."""
    running = await context.engine.running()
    searches = await searches_of(running.store, running.node.flows)
    seen = await context.service.stores.look()
    return context.query.cut([{**each, "searches": searches.get(each["name"], [])} for each in seen])
