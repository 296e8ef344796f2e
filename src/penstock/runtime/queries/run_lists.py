"""Lists of runs, page by page."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from penstock.flow.model.run import STATUSES
from penstock.runtime.commands.validation import validate_texts
from penstock.runtime.errors import BadCursor, Invalid
from penstock.runtime.node.flow_cache import MAX_VERSIONS
from penstock.runtime.queries.cursors import read_cursor, write_cursor
from penstock.runtime.queries.row_views import row_view
from penstock.store.protocol import RunViews
from penstock.store.rows.rows import Filter, RunRow, Sort

MAX_PAGE = 200


class RunCursor(Struct, frozen=True, array_like=True):
    """The position of a run in its list."""

    sort: Sort
    at: datetime
    run: str


def read_filter(said: dict[str, Any], max_limit: int = MAX_PAGE) -> Filter:
    """A filter from what a caller says. Raises Invalid for a status, sort, limit or key that is not known."""
    if "sort" in said and said["sort"] not in get_args(Sort):
        raise Invalid(f"runs cannot be sorted by '{said['sort']}': say {', '.join(get_args(Sort))}")
    try:
        Filter(**said)
        filter = convert(said, Filter)
    except (TypeError, ValidationError) as error:
        raise Invalid(f"this filter is invalid: {error}") from None
    _validate_texts(filter)
    for status in filter.statuses:
        if status not in STATUSES:
            raise Invalid(f"'{status}' is no status of a run: say {', '.join(STATUSES)}")
    if not 1 <= filter.limit <= max_limit:
        raise Invalid(f"a page has 1 to {max_limit} runs, not {filter.limit}")
    if filter.version is not None and not 0 < filter.version < MAX_VERSIONS:
        return replace(filter, version=0)  # there is none
    return filter


def _validate_texts(filter: Filter) -> None:
    for name in ("workflow", "subject", "parent", "step", "waiting_for", "q"):
        validate_texts(**{name: getattr(filter, name)})
    for name in ("workflows", "label", "key", "statuses"):
        for text in getattr(filter, name) or ():
            validate_texts(**{name: text})


async def list_runs(store: RunViews, filter: Filter, cursor: str | None = None) -> dict[str, Any]:
    """One page: `items`, and `next`, the cursor of the page after it. Raises BadCursor."""
    if cursor is not None:
        place = read_cursor(cursor, RunCursor)
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


def place_of(row: RunRow, filter: Filter) -> RunCursor:
    """The place of a run in a list."""
    at = row.ended_at if filter.sort == "ended" else row.started_at
    assert at is not None
    return RunCursor(filter.sort, at, row.id)
