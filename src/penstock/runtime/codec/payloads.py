"""Payloads inside encoded state: small ones in place, large ones kept apart once and referred to."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from msgspec import Raw
from msgspec.msgpack import Decoder, Encoder, Ext

INLINE = 2048
"""Bytes up to which a payload is kept in place; a larger one is stored once a run, however often it is used."""

APART, SAME_CODE = 1, 2
"""Codes of extensions: a payload that is kept apart; inside a history page, that of the last entry with one."""

encode = Encoder().encode
MARK = encode(Ext(APART, bytes(16)))[:2]
"""How a reference to a payload that is kept apart begins: bytes without it need not be searched for one."""


class Unreadable(Exception):
    """Written by a later Penstock, or damaged: it is left alone and told of."""


class Ref:
    """Stands for a payload that is kept apart, until it is fetched."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest


SAME = object()
"""Stands for the payload of the last entry of the same page that has one."""


def _hook(code: int, data: memoryview) -> Any:
    return Ref(bytes(data)) if code == APART else SAME


decode = Decoder(ext_hook=_hook).decode


Known = tuple[Any, Raw, int]
"""A payload, what stands for it, and its bytes."""
_NONE: dict[int, Known] = {}


class Packer:
    """Encodes the payloads of one run. One object is encoded once in a round, a large one once while it is in use."""

    __slots__ = ("_before", "_large", "_round", "apart", "fresh", "head")

    def __init__(self) -> None:
        # One that is never filled stands for all of them: most runs have only small payloads, and keep none.
        self._large: dict[int, Known] = _NONE  # the object is kept, so that its id stays its own
        self._before: dict[int, Known] = _NONE  # the large ones of the round before
        self._round: dict[int, Known] = _NONE
        self.fresh: tuple[tuple[bytes, bytes], ...] = ()
        self.apart = 0  # bytes of the large ones that were asked for, ever: it grows by what something has
        self.head = 0  # bytes of a large head, and of what its steps have apart

    def begin(self) -> None:
        """A new round: what it finds to be large and new is in `fresh`. What the last one did not use is dropped."""
        if self._round or self._large or self._before:
            self._before, self._large, self._round = self._large, _NONE, _NONE
            self.fresh = ()

    def __call__(self, value: Any) -> Any:
        """What to encode in place of the payload."""
        if not value or value is True:
            return value  # nothing, or an empty one: there is nothing to spare
        key = id(value)
        known = self._round.get(key) or self._large.get(key)
        if known is None and (known := self._before.get(key)) is not None:
            self._keep(key, known)
        if known is not None:
            if known[2] > INLINE:
                self.apart += known[2]
            return known[1]
        body = encode(value)
        raw = Raw(body)
        if len(body) > INLINE:
            digest = blake2b(body, digest_size=16).digest()
            self.fresh += ((digest, body),)
            self.apart += len(body)
            raw = Raw(encode(Ext(APART, digest)))
            self._keep(key, (value, raw, len(body)))
        else:
            if self._round is _NONE:
                self._round = {}
            self._round[key] = (value, raw, len(body))
        return raw

    def adopt(self, value: Any, digest: bytes, size: int) -> None:
        """A payload that lies in the store already."""
        self._keep(id(value), (value, Raw(encode(Ext(APART, digest))), size))

    @property
    def weight(self) -> int:
        """The bytes of a large head and of the large ones that are in use; one that just was may count twice."""
        if not (self._large or self._before or self.head):
            return 0
        return self.head + sum(size for _, _, size in (self._before | self._large).values())

    def _keep(self, key: int, large: Known) -> None:
        if self._large is _NONE:
            self._large = {}
        self._large[key] = large
