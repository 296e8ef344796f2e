"""From changes to columns: what many changes write, as one array a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def columns(names: str, rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as named columns; all are empty where there is no row."""
    found = list(zip(*rows, strict=True))
    return {name: list(found[place]) if found else [] for place, name in enumerate(names.split())}


def texts(names: str, rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Rows as named columns, each a JSON text, bytes in base64: for statements that many rows go through.

    All are empty where there is no row.
    The driver looks at every element of an array, whether it is an array itself: that takes it ten times as long.
    """
    found = list(zip(*rows, strict=True))
    return {
        name: _encode(found[place]).decode() if found else "[]" for place, name in enumerate(names.split())
    }


def advisory(kind: str, *key: str) -> int:
    """The number of the advisory lock of a key: 64 bits, so that two keys hardly ever share one."""
    text = "\0".join((kind, *key)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), signed=True)
