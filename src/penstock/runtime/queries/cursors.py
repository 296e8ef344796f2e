"""Cursors: where the next page of a list begins, as an opaque text."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from penstock.runtime.errors import BadCursor

T = TypeVar("T")
CHECKSUM_BYTES = 6


def write_cursor(place: Any) -> str:
    """A place in a list as an opaque text."""
    body = msgspec.json.encode(place)
    return urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def read_cursor(text: str, kind: type[T]) -> T:
    """The place that was written. Raises BadCursor where it is not what `write_cursor` gave, or of another list."""
    try:
        whole = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        check, body = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
        if check != _check(body) or write_cursor(msgspec.Raw(body)) != text:
            raise BadCursor(text)
        return msgspec.json.decode(body, type=kind)
    except (ValueError, msgspec.MsgspecError):
        raise BadCursor(text) from None


def _check(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES, person=b"penstock cursor").digest()
