"""Lists, page by page: `{"items": [...], "next": CURSOR or null}`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from msgspec import Meta, Struct

from penstock.runtime.queries.cursors import read_cursor, write_cursor

T = TypeVar("T")
P = TypeVar("P")

Limit = Annotated[int, Meta(ge=1, le=200)]
Cursor = Annotated[str, Meta(min_length=1)]


class Page(Struct, Generic[T]):
    """Some items, and the position after them."""

    items: list[T]
    next: str | None = None


def page(items: Sequence[T], limit: int, place: Callable[[T], Any]) -> Page[T]:
    """A page of items; the caller requested one more than `limit`."""
    shown = list(items[:limit])
    return Page(shown, write_cursor(place(shown[-1])) if len(items) > limit else None)


class Paged(Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of every list."""

    limit: Limit = 50
    cursor: Cursor | None = None

    def place(self, kind: type[T]) -> T | None:
        """Where the page begins. Raises BadCursor."""
        return None if self.cursor is None else read_cursor(self.cursor, kind)

    async def page(
        self, kind: type[P], read: Callable[[P | None, int], Awaitable[Sequence[T]]], place: Callable[[T], P]
    ) -> Page[T]:
        """The page of what `read` gives from a place on, up to a limit. Raises BadCursor."""
        return page(await read(self.place(kind), self.limit + 1), self.limit, place)


class Counted(Paged, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a short list that is computed for every call: its cursor is an offset."""

    limit: Limit = 200

    def cut(self, items: Sequence[T]) -> Page[T]:
        """The requested page. Raises BadCursor."""
        first = self.place(int) or 0
        last = first + self.limit
        return Page(list(items[first:last]), write_cursor(last) if last < len(items) else None)
