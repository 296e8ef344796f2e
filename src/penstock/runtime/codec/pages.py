"""History pages: the entries of one decision as one body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from msgspec import convert
from msgspec.msgpack import Ext

from penstock.flow.model.plan import Entry, EntryKind
from penstock.flow.model.tags import TagChange
from penstock.runtime.codec.payloads import INLINE, SAME, SAME_CODE, Packer, Ref, decode, encode

KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_SAME = Ext(SAME_CODE, b"")


def encode_page(history: Sequence[Entry], pack: Packer) -> bytes:
    """The entries of one decision, which all have one time. A payload that neighbours share is in it once."""
    body = _encode_page(history, None)
    # So short a page holds nothing large. Else each payload is looked at by itself.
    return body if len(body) <= INLINE else _encode_page(history, pack)


def _encode_page(history: Sequence[Entry], pack: Packer | None) -> bytes:
    rows: list[Any] = []
    before = None
    for entry in history:
        data = entry.data
        if data is not None:
            if data is before:
                data = _SAME
            else:
                before = data
                if pack is not None:
                    data = pack(data)
        rows.append(
            (
                _NUMBERS[entry.kind],
                entry.step,
                entry.event,
                entry.port,
                entry.attempt,
                data,
                entry.firing,
                entry.id,
                *(() if entry.tags is None else (entry.tags,)),
            )
        )
    first = history[0]
    return encode((first.seq, first.at, rows))


def decode_page(body: bytes) -> list[Entry]:
    """The entries; a payload that is kept apart is a Ref in `data`."""
    first, at, rows = decode(body)
    entries: list[Entry] = []
    before = None
    for number, (kind, step, event, port, attempt, data, firing, id, *more) in enumerate(rows):
        if data is not None:
            before = data = before if data is SAME else data
        tags = convert(more[0], TagChange) if more else None  # pages that were written before have none
        entries.append(
            Entry(first + number, at, KINDS[kind], step, event, port, attempt, data, firing, id, tags)
        )
    return entries


def refs_of(entries: Sequence[Entry]) -> Iterator[bytes]:
    """The digests of the payloads that must be fetched."""
    return (entry.data.digest for entry in entries if isinstance(entry.data, Ref))
