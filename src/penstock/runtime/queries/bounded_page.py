"""Pages of lists whose items may be large: such a page has fewer items, at least one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from penstock.runtime.queries.history import MAX_PAGE_BYTES, MAX_PAYLOADS_PER_READ

Row = TypeVar("Row")
Cursor = TypeVar("Cursor")


async def bounded_page(
    read: Callable[[Cursor, int], Awaitable[Sequence[Row]]],
    place: Callable[[Row], Cursor],
    size: Callable[[Row], int],
    after: Cursor,
    limit: int,
) -> tuple[list[Row], bool]:
    """The rows behind a place, at most `limit`, as many as there is room for; and whether there are more."""
    rows: list[Row] = []
    left = MAX_PAGE_BYTES
    while True:
        asked = min(MAX_PAYLOADS_PER_READ, limit + 1 - len(rows))
        found = await read(after, asked)
        for row in found:
            left -= size(row)
            if len(rows) == limit or (rows and left < 0):
                return rows, True
            rows.append(row)
        if len(found) < asked:
            return rows, False
        after = place(found[-1])


def fitting(items: Sequence[Any], left: int) -> tuple[int, int]:
    """How many of the first items fit into so many bytes, and how many are left then."""
    for number, item in enumerate(items):
        size = len(msgspec.json.encode(item))
        if size > left:
            return number, left
        left -= size
    return len(items), left
