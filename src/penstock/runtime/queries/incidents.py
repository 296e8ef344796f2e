"""Incidents: what waits for a person. Failing sources, failed and stalled runs, undelivered events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.decisions.quiescence import starving
from penstock.flow.values.name_patterns import matches
from penstock.flow.views.run_view import failure_view, time_text
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.runtime.queries.bounded_page import fitting
from penstock.runtime.queries.cursors import read_cursor, write_cursor
from penstock.runtime.queries.history import MAX_PAGE_BYTES, MAX_PAYLOADS_PER_READ
from penstock.runtime.queries.row_views import row_view, undelivered_view
from penstock.store.protocol import InboundEvents, RunViews
from penstock.store.rows.rows import Filter, PendingEventRow, RunRow

KINDS = ("source", "run", "aside", "undelivered")
"""In this order they are listed."""

Failing = Callable[[], Awaitable[Sequence[dict[str, Any]]]]
"""The sources that fail, as `list_triggers` shows them."""


class Incidents(InboundEvents, RunViews, Protocol):
    """Where trouble is on record."""


class IncidentCursor(Struct, frozen=True, array_like=True):
    """Where the next page begins: among what, and behind which run, kept event, or number of sources."""

    kind: int
    at: datetime | None = None
    run: str = ""
    after: int = 0


async def list_incidents(
    store: Incidents,
    run_cache: RunCache,
    filter: Filter,
    cursor: str | None,
    failing: Failing,
) -> dict[str, Any]:
    """One page: `items`, fewer where they are large, and `next`. Raises BadCursor.

    `since` is of the start of a run, or of the coming of an event. Of the filter count `since`, `workflow`,
    `workflows` and `limit`. Who may see only some workflows is not shown events that belong to none.
    """
    place = IncidentCursor(0) if cursor is None else read_cursor(cursor, IncidentCursor)
    limit, bound = filter.limit, filter.workflow is not None or filter.workflows is not None
    items: list[dict[str, Any]] = []
    following: IncidentCursor | None = place
    left = MAX_PAGE_BYTES
    while following is not None and len(items) < limit and left > 0:
        if following.kind == 0:
            found, following = _sources(await failing(), filter, following.after, limit - len(items))
        else:
            # A few at a time: runs are read whole, and nobody knows how large they are.
            few = min(MAX_PAYLOADS_PER_READ, limit - len(items))
            found, following = await _some(store, run_cache, filter, following, few, bound)
        items += found
        fit, left = fitting(found, left)
        left = left if fit == len(found) else 0
    return {"items": items, "next": None if following is None else write_cursor(following)}


def _sources(
    failing: Sequence[dict[str, Any]], filter: Filter, first: int, limit: int
) -> tuple[list[dict[str, Any]], IncidentCursor]:
    """The next few of the sources that the filter lets pass."""
    wanted = [
        each
        for each in failing
        if filter.workflow in (None, each["workflow"])
        and matches(filter.workflows, each["workflow"])
        and (filter.since is None or datetime.fromisoformat(each["error_at"]) >= filter.since)
    ]
    found = [_of_source(each) for each in wanted[first : first + limit]]
    return found, IncidentCursor(0, after=first + limit) if len(wanted) > first + limit else IncidentCursor(1)


async def _some(
    store: Incidents, run_cache: RunCache, filter: Filter, place: IncidentCursor, limit: int, bound: bool
) -> tuple[list[dict[str, Any]], IncidentCursor | None]:
    """The next few of one kind, and the position after them."""
    kind = KINDS[place.kind] if 0 <= place.kind < len(KINDS) else "undelivered"
    if kind == "undelivered":
        return ([], None) if bound else await _undelivered(store, filter.since, place, limit)
    filter = replace(
        filter,
        statuses=("failed", "stalled") if kind == "run" else (),
        aside=kind == "aside",
        after=None if place.at is None else (place.at, place.run),
        limit=limit + 1,
    )
    rows = await store.runs(filter)
    lives = await run_cache.fetch([row.id for row in rows[:limit]])
    items = [item for row in rows[:limit] for item in _of_run(kind, row, lives.get(row.id))]
    if len(rows) <= limit:
        return items, IncidentCursor(place.kind + 1)
    return items, IncidentCursor(place.kind, rows[limit - 1].started_at, rows[limit - 1].id)


async def _undelivered(
    store: Incidents, since: datetime | None, place: IncidentCursor, limit: int
) -> tuple[list[dict[str, Any]], IncidentCursor | None]:
    rows = await store.undelivered(place.after, limit + 1)
    shown = [row for row in rows[:limit] if since is None or row.at >= since]
    following = IncidentCursor(place.kind, after=rows[limit - 1].id) if len(rows) > limit else None
    return [_of_event(row) for row in shown], following


def _of_run(kind: str, row: RunRow, live: CachedRun | BaseException | None) -> Sequence[dict[str, Any]]:
    if live is None:
        return []
    if not isinstance(live, CachedRun):
        return [_item(row, "unreadable", f"The run cannot be read: {live}", [], reason=str(live))]
    if kind == "aside":
        return [
            _item(
                row,
                "set_aside",
                f"Event '{each.token.name}' was set aside at step '{each.step}': {each.reason}.",
                ["repair", "cancel"],
                step=each.step,
                event=each.token.name,
                data=each.token.load.data,
                reason=each.reason,
            )
            for each in live.snapshot.aside
        ]
    return [_failed(row, live) if row.status == "failed" else _stalled(row, live)]


def _failed(row: RunRow, live: CachedRun) -> dict[str, Any]:
    error = live.snapshot.error
    steps = sorted({firing.step for firing in live.snapshot.failed.values()})
    where = f" at step {', '.join(repr(step) for step in steps)}" if steps else ""
    text = f"The run failed{where}: {'no reason was given' if error is None else error.message}"
    actions = ["retry", "skip", "rerun"] if steps else ["rerun"]
    poison = error is not None and error.kind == "lost"
    return _item(row, "poison" if poison else "failed", text, actions, steps=steps, error=failure_view(error))


def _stalled(row: RunRow, live: CachedRun) -> dict[str, Any]:
    hungry = starving(live.flow, live.snapshot)
    starves = [{"step": each.step, "missing": each.events()} for each in hungry]
    told = "; ".join(f"'{each.step}' starves for {', '.join(each.events())}" for each in hungry)
    text = f"The run is stalled: {told or 'nothing is left that could go on'}"
    return _item(row, "stalled", text, ["repair", "skip", "fail", "cancel"], starving=starves)


def _item(row: RunRow, kind: str, text: str, actions: list[str], **more: Any) -> dict[str, Any]:
    at = row.ended_at or row.started_at
    plain = {name: value for name, value in row_view(row).items() if name != "id"}
    return {
        "kind": kind,
        "run": row.id,
        "at": time_text(at),
        "text": text,
        "actions": actions,
        **plain,
        **more,
    }


def _of_source(trigger: dict[str, Any]) -> dict[str, Any]:
    what = "The source" if trigger["event"] is None else f"The source of event '{trigger['event']}'"
    text = f"{what} of '{trigger['workflow']}' ({trigger['kind']}) is failing: {trigger['error']}"
    return {
        "kind": "source",
        "run": None,
        "at": trigger["error_at"],
        "text": text,
        "actions": ["stop-source"] if trigger["event"] is None else [],
        "workflow": trigger["workflow"],
        "source": trigger["kind"],
        "event": trigger["event"],
        "reason": trigger["error"],
        "failures": trigger["failures"],
        "node": trigger["node"],
    }


def _of_event(row: PendingEventRow) -> dict[str, Any]:
    key = ", ".join(f"{name}={value}" for name, value in row.keys)
    text = f"Event '{row.event}'{f' ({key})' if key else ''} was taken by no run: {row.reason}"
    view = undelivered_view(row)
    # A message that could not be read has none of these: it would be refused again and again.
    data = view["data"] if isinstance(view["data"], dict) else {}
    start = "start_key" in data or data.get("again") is True
    return {
        "kind": "undelivered",
        "run": None,
        "text": text,
        "actions": ["redeliver"] if row.keys or start else [],
        **view,
    }
