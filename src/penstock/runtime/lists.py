"""Lists of runs, page by page."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.run import Status
from penstock.runtime.cursors import read_cursor, write_cursor
from penstock.runtime.errors import BadCursor, Invalid
from penstock.runtime.views import row_view
from penstock.store.protocol import Views
from penstock.store.rows import Filter, RunRow, Sort

MOST = 200


class Place(Struct, frozen=True, array_like=True):
    """Where a run stands in its list."""

    sort: Sort
    at: datetime
    run: str


def read_filter(said: dict[str, Any]) -> Filter:
    """A filter from what a caller says. Raises Invalid for a status, sort, limit or key that is not known."""
    try:
        filter = Filter(**said)
    except TypeError as error:
        raise Invalid(f"a list of runs cannot be asked for that: {error}") from None
    for status in filter.statuses:
        if status not in get_args(Status):
            raise Invalid(f"'{status}' is no status of a run: say {', '.join(get_args(Status))}")
    if filter.sort not in get_args(Sort):
        raise Invalid(f"runs cannot be sorted by '{filter.sort}': say {', '.join(get_args(Sort))}")
    if not 1 <= filter.limit <= MOST:
        raise Invalid(f"a page has 1 to {MOST} runs, not {filter.limit}")
    return filter


async def list_runs(store: Views, filter: Filter, cursor: str | None = None) -> dict[str, Any]:
    """One page: `items`, and `next`, the cursor of the page after it. Raises BadCursor."""
    if cursor is not None:
        place = read_cursor(cursor, Place)
        if place.sort != filter.sort:
            raise BadCursor(cursor)
        filter = replace(filter, after=(place.at, place.run))
    rows = await store.runs(replace(filter, limit=filter.limit + 1))
    more = len(rows) > filter.limit
    shown = rows[: filter.limit]
    return {
        "items": [row_view(row) for row in shown],
        "next": write_cursor(place_of(shown[-1], filter)) if more else None,
    }


def place_of(row: RunRow, filter: Filter) -> Place:
    """The place of a run in a list."""
    at = row.ended_at if filter.sort == "ended" else row.started_at
    assert at is not None
    return Place(filter.sort, at, row.id)
