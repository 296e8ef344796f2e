"""The narrow seam to object stores: what S3 and a folder both can do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from msgspec import Struct

Access = Literal["read", "write"]
MAX_KEY = 1024
"""Bytes of a key in UTF-8."""


def moment_text(moment: datetime) -> str:
    """A time as in all of the API: RFC 3339 in UTC."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat().replace("+00:00", "Z")


class Object(Struct, frozen=True, kw_only=True):
    """One version of an object and all that is known of it, without its content."""

    bucket: str
    key: str
    size: int | None  # None: it is gone, and nobody told
    etag: str
    version: str | None = None
    metadata: dict[str, str] = {}
    system: dict[str, Any] = {}
    tags: dict[str, str] = {}


class Listed(Struct, frozen=True):
    """An object in a listing: what can be known of it without asking for it."""

    key: str
    size: int
    etag: str
    modified: datetime
    storage_class: str | None = None


class ObjectStore(Protocol):
    """One bucket. Everything raises ObjectStoreAway where it cannot be asked."""

    name: str
    bucket: str

    async def head(self, key: str, version: str | None = None, *, tags: bool = True) -> Object:
        """An object as it is; without its tags where they are not wanted. Raises ObjectGone."""

    def pages(self, prefix: str = "", after: str = "") -> AsyncIterator[list[Listed]]:
        """The objects whose keys begin so, a page at a time, in an order that is always the same.

        With `after` those behind that key. Most stores order by the bytes of keys; SeaweedFS by folders.
        """

    async def put_tags(self, key: str, tags: Mapping[str, str], version: str | None = None) -> None:
        """Give an object these tags and no others. Raises ObjectGone, ObjectRefused."""

    async def put_metadata(self, found: Object, metadata: Mapping[str, str]) -> Object:
        """Give an object, as it was found, this metadata and no other; the object it is then.

        Raises ObjectGone, ObjectRefused.
        """

    def now(self) -> datetime | None:
        """The time by its own clock, as its last answer told; None: to write metadata does not change an object."""

    async def presign(self, key: str, access: Access, expires: timedelta, version: str | None = None) -> str:
        """An address by which somebody without credentials may read or write the object. Raises ObjectRefused."""

    async def check(self) -> None:
        """That the bucket is there and may be listed. Raises ObjectStoreAway."""

    async def close(self) -> None: ...
