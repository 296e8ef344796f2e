"""Events from outside."""

from __future__ import annotations

from typing import Any

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
async def emit_event(ask: RequestContext[Event, None]) -> Any:
    """Fire an event into a run; 200 where its id came before."""
    run, body = await ask.may_run("operate"), ask.body
    return _taken(await ask.engine.emit(body.event, body.data, run=run, set=body.set, id=body.id))


@calls.post(
    "/api/events", "operate", takes=KeyedEvent, recorded=False, gives=EventTaken, status=202, statuses=(200,)
)
async def emit_by_key(ask: RequestContext[KeyedEvent, None]) -> Any:
    """Fire an event into the run that has the key; one that comes too early is kept for it."""
    body = ask.body
    answer = await ask.engine.emit(
        body.event,
        body.data,
        key=body.key,
        set=body.set,
        id=body.id,
        source=ask.caller.name,
        sees=None if ask.caller.everywhere else ask.caller.sees,
    )
    return _taken(answer)


@calls.get("/api/events/undelivered", "read", query=Paged, gives=Page[Undelivered])
async def list_undelivered(ask: RequestContext[None, Paged]) -> Any:
    """Events of the last seven days that no run has taken, the oldest first; a page has fewer where they are large."""
    if not ask.caller.everywhere:
        return Page([])
    after = ask.query.place(int) or 0
    items, more = await ask.engine.undelivered_page(after=after, limit=ask.query.limit)
    return Page(items, write_cursor(items[-1]["id"]) if more else None)


@calls.post("/api/events/undelivered/{number}/redeliver", "operate", gives=Redelivered)
async def redeliver_event(ask: RequestContext[None, None]) -> Any:
    """Give an event to the run that has its key now, or start the run that it could not start; 409 where none has."""
    id = ask.number("number")
    known = await ask.engine.undelivered(after=id - 1, limit=1) if ask.caller.everywhere else []
    if not known or known[0]["id"] != id:
        raise NotFound(f"there is no undelivered event {id}: it was delivered, or is older than seven days")
    if not await ask.engine.redeliver(id):
        raise Conflict(f"no run has a key of event {id} now: it stays until one has, or for seven days")
    return Redelivered(id, True)
