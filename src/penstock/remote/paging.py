"""Lists that come page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

PAGE = 200

Fetch = Callable[[int, str | None], Awaitable[dict[str, Any]]]
"""A page of so many items, from a cursor on."""


async def up_to(limit: int | None, fetch: Fetch, page: int = PAGE) -> list[dict[str, Any]]:
    """The first items of a list, so many in a page; None: all of them."""
    items: list[dict[str, Any]] = []
    cursor = None
    while limit is None or len(items) < limit:
        answer = await fetch(page if limit is None else min(page, limit - len(items)), cursor)
        items += answer["items"]
        cursor = answer.get("next")
        if cursor is None:
            break
    return items
