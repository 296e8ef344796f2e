"""`/events`: what happened to releases and tasks, and what people add to it."""

from __future__ import annotations

from typing import Any

from penstock.api.extension import Calls, RequestContext
from penstock_release.api import wire
from penstock_release.api.answers import body_of, coordinator_of, event_view, matching, page
from penstock_release.documents import Document
from penstock_release.errors import busy, invalid, unknown
from penstock_release.fields import Field, read_fields
from penstock_release.ids import EVENT, id_in, new_id
from penstock_release.new_release import event_name
from penstock_release.releases import now_text

calls = Calls("release-events")
FIELDS = (
    Field("event_type", required=True, max_length=10),
    Field("message", required=True, max_length=1000),
    Field("release"),
    Field("task"),
    Field("task_service"),
)
TYPES = ("info", "warning", "error")
BY_HAND = 99_999_999
_BODY: dict[str, Any] = {"takes": wire.EventIn, "reads": "raw", "gives": wire.ReleaseEvent}


@calls.get("/events", "read", query=wire.EventListing, gives=wire.Results[wire.ReleaseEvent])
async def list_release_events(context: RequestContext[None, None]) -> Any:
    """What happened, the newest first."""
    here = coordinator_of(context)
    await here.releases.catch_up()
    release = id_in(context.request.query_params.get("release", ""))
    prefix = f"events/{release}/" if release else "events/"
    found = [kept.data for kept in await here.documents.all(prefix)]
    found.sort(key=lambda event: (str(event["created_at"]), event["number"]), reverse=True)
    kinds = [each.strip() for each in context.request.query_params.get("event_type", "").split(",")]
    if any(kinds):
        found = [event for event in found if event["event_type"] in kinds]
    return page(context, matching(context, found, "task_service", "task"), event_view)


async def _found(context: RequestContext[None, None]) -> Document:
    for kept in await coordinator_of(context).documents.all("events/"):
        if kept.data["kf_id"] == context.path["id"]:
            return kept
    raise unknown()


async def _fields(context: RequestContext[None, None], partial: bool) -> dict[str, Any]:
    body = await body_of(context)
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if value is not None}
    fields = read_fields(body, FIELDS, partial)
    if fields.get("event_type", "info") not in TYPES:
        raise invalid("event_type", f'"{fields["event_type"]}" is not a valid choice.')
    for name, kind in (("release", "releases"), ("task", "task-of"), ("task_service", "services")):
        if name in fields:
            id = fields[name] = id_in(fields[name])
            if not id or await coordinator_of(context).documents.get(f"{kind}/{id}") is None:
                raise invalid(name, "Invalid hyperlink - Object does not exist.")
    return fields


@calls.post("/events", "operate", status=201, **_BODY)
async def add_release_event(context: RequestContext[None, None]) -> Any:
    """Record something by hand."""
    made: dict[str, Any] = {
        "release": None,
        "task": None,
        "task_service": None,
        **await _fields(context, False),
    }
    made |= {"kf_id": new_id(EVENT), "created_at": now_text(), "number": BY_HAND}
    return event_view(context, await coordinator_of(context).documents.add(event_name(made), made))


@calls.get("/events/{id}", "read", gives=wire.ReleaseEvent)
async def show_release_event(context: RequestContext[None, None]) -> Any:
    """One event."""
    return event_view(context, (await _found(context)).data)


async def _change(context: RequestContext[None, None], partial: bool) -> Any:
    kept = await _found(context)
    fields = await _fields(context, partial)
    said = {name: fields[name] for name in ("event_type", "message") if name in fields}
    changed = dict(kept.data) | said
    if not await coordinator_of(context).documents.change(update=[(kept, changed)]):
        raise busy()
    return event_view(context, changed)


@calls.patch("/events/{id}", "operate", **_BODY)
async def patch_release_event(context: RequestContext[None, None]) -> Any:
    """Change the type or the message of an event."""
    return await _change(context, True)


@calls.put("/events/{id}", "operate", **_BODY)
async def put_release_event(context: RequestContext[None, None]) -> Any:
    """Change an event."""
    return await _change(context, False)


@calls.delete("/events/{id}", "operate", status=204)
async def remove_release_event(context: RequestContext[None, None]) -> Any:
    """Remove an event."""
    if not await coordinator_of(context).documents.change(delete=[await _found(context)]):
        raise busy()
