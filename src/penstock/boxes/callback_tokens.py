"""Callback addresses: each names one attempt, and nobody can forge one.

An id is the place of the attempt with a keyed digest of it. The key is made once an installation and kept in its
database, so that every node opens what any of them sealed.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from hashlib import sha256
from secrets import token_hex
from typing import Protocol

from msgspec import DecodeError, Struct, ValidationError, msgpack

NOTE = "installation/callback-key"
_TAG_BYTES = 16


class KeyNotes(Protocol):
    """The role of `Store` that keeps the key."""

    async def put_note(self, name: str, text: str, *, replace: bool) -> str | None: ...


class Attempted(Struct, frozen=True, array_like=True):
    """One attempt."""

    run: str
    firing: int
    index: int | None
    attempt: int


class CallbackTokens:
    """Makes and opens the ids of callbacks."""

    def __init__(self, notes: KeyNotes) -> None:
        self._notes = notes
        self._key: bytes | None = None

    async def issue(self, place: Attempted) -> str:
        body = msgpack.encode(place)
        return urlsafe_b64encode(await self._tag(body) + body).decode().rstrip("=")

    async def open(self, id: str) -> Attempted | None:
        """The attempt that an id names; None: it is none of ours."""
        try:
            raw = urlsafe_b64decode(id.encode("ascii") + b"=" * (-len(id) % 4))
            tag, body = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
            if not hmac.compare_digest(tag, await self._tag(body)):
                return None
            return msgpack.decode(body, type=Attempted)
        except (Error, ValueError, DecodeError, ValidationError):
            return None

    async def _tag(self, body: bytes) -> bytes:
        if self._key is None:
            fresh = token_hex(32)
            self._key = bytes.fromhex(await self._notes.put_note(NOTE, fresh, replace=False) or fresh)
        return hmac.new(self._key, b"penstock callback\0" + body, sha256).digest()[:_TAG_BYTES]
