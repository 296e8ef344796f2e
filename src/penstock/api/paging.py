"""Lists, page by page: `{"items": [...], "next": CURSOR or null}`."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

T = TypeVar("T")

Limit = Annotated[int, Meta(ge=1, le=200)]


class Page(Struct, Generic[T]):
    """Some items, and where to go on."""

    items: list[T]
    next: str | None = None


class Paged(Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of every list."""

    limit: Limit = 50
    cursor: str | None = None


class Numbered(Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a list in the order of numbers."""

    limit: Limit = 50
    cursor: Annotated[str, Meta(pattern="^[0-9]{1,18}$")] | None = None

    @property
    def number(self) -> int | None:
        """Where to go on."""
        return None if self.cursor is None else int(self.cursor)
