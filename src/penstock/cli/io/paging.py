"""Lists that come page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

PAGE = 200

Fetch = Callable[[int, str | None], Awaitable[dict[str, Any]]]
"""A page of so many items, from a cursor on."""


async def up_to(limit: int, fetch: Fetch) -> list[dict[str, Any]]:
    """The first items of a list."""
    items: list[dict[str, Any]] = []
    cursor = None
    while len(items) < limit:
        page = await fetch(min(PAGE, limit - len(items)), cursor)
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    return items
