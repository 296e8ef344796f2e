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
