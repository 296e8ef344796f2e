"""Events from outside."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.paging import Page, Paged
from penstock.api.wire.events import Event, EventTaken, KeyedEvent, Redelivered, Undelivered
from penstock.runtime.errors import Conflict, NotFound
from penstock.runtime.queries.cursors import write_cursor

calls = Calls("events")


def _taken(answer: str) -> Reply:
    return Reply(EventTaken(answer, answer == "duplicate"), 200 if answer == "duplicate" else 202)  # type: ignore[arg-type]


@calls.post(
    "/api/runs/{id}/events",
    "operate",
    takes=Event,
    recorded=False,
    gives=EventTaken,
    status=202,
    statuses=(200,),
)
async def emit_event(context: RequestContext[Event, None]) -> Any:
    """Fire an event into a run; 200 where its id came before."""
    run = await context.may_run("operate")
    return _taken(await context.engine.emit(**asdict(context.body), run=run))


@calls.post(
    "/api/events", "operate", takes=KeyedEvent, recorded=False, gives=EventTaken, status=202, statuses=(200,)
)
async def emit_by_key(context: RequestContext[KeyedEvent, None]) -> Any:
    """Fire an event into the run that has the key; one that comes too early is kept for it."""
    sees = None if context.caller.everywhere else context.caller.sees
    return _taken(await context.engine.emit(**asdict(context.body), source=context.caller.name, sees=sees))


@calls.get("/api/events/undelivered", "read", query=Paged, gives=Page[Undelivered])
async def list_undelivered(context: RequestContext[None, Paged]) -> Any:
    """Events of the last seven days that no run has taken, the oldest first; a page has fewer where they are large."""
    if not context.caller.everywhere:
        return Page([])
    after = context.query.place(int) or 0
    items, more = await context.engine.undelivered_page(after=after, limit=context.query.limit)
    return Page(items, write_cursor(items[-1]["id"]) if more else None)


@calls.post("/api/events/undelivered/{number}/redeliver", "operate", gives=Redelivered)
async def redeliver_event(context: RequestContext[None, None]) -> Any:
    """Give an event to the run that has its key now, or start the run that it could not start; 409 where none has."""
    id = context.number("number")
    known = await context.engine.undelivered(after=id - 1, limit=1) if context.caller.everywhere else []
    if not known or known[0]["id"] != id:
        raise NotFound(f"there is no undelivered event {id}: it was delivered, or is older than seven days")
    if not await context.engine.redeliver(id):
        raise Conflict(f"no run has a key of event {id} now: it stays until one has, or for seven days")
    return Redelivered(id, True)
