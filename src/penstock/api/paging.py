"""Lists, page by page: `{"items": [...], "next": CURSOR or null}`."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from penstock.api.reading import Unreadable

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


def number_cursor(cursor: str | None) -> int | None:
    """A cursor that is a number. Raises Unreadable (`bad_cursor`)."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and int(cursor[:20]) < 2**63):
        raise bad_cursor()
    return int(cursor)


def bad_cursor() -> Unreadable:
    return Unreadable(
        "bad_cursor", "this is no cursor of this list: take `next` of an answer, or leave it out"
    )
