"""History pages: the entries of one decision as one body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from msgspec import Raw
from msgspec.msgpack import Ext

from penstock.flow.plan import Entry, EntryKind
from penstock.runtime.codec.payloads import SAME, Packer, Ref, Same, decode, encode

KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


def encode_page(history: Sequence[Entry], pack: Packer) -> bytes:
    """The entries of one decision, which all have one time. A payload that several share is in it once."""
    first = history[0]
    entries: list[Any] = []
    shared: dict[int, int] = {}
    for at, entry in enumerate(history):
        data = entry.data
        if data is not None:
            earlier = shared.setdefault(id(data), at)
            data = pack(data) if earlier == at else Raw(encode(Ext(SAME, earlier.to_bytes(4, "big"))))
        entries.append(
            (
                _NUMBERS[entry.kind], entry.step, entry.event, entry.port, entry.attempt, data, entry.firing,
                entry.id,
            )
        )  # fmt: skip
    return encode((first.seq, first.at, entries))


def decode_page(body: bytes) -> list[Entry]:
    """The entries; a payload that is kept apart is a Ref in `data`."""
    first, at, rows = decode(body)
    entries: list[Entry] = []
    for number, (kind, step, event, port, attempt, data, firing, id) in enumerate(rows):
        if isinstance(data, Same):
            data = entries[data.entry].data
        entries.append(Entry(first + number, at, KINDS[kind], step, event, port, attempt, data, firing, id))
    return entries


def refs_of(entries: Sequence[Entry]) -> Iterator[bytes]:
    """The digests of the payloads that must be fetched."""
    return (entry.data.digest for entry in entries if isinstance(entry.data, Ref))
