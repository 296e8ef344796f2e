"""Keys of `match` and `serialize`: any JSON value as a text, equal where CEL calls the values equal."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
_encode_simple = msgspec.json.Encoder(order="sorted").encode
_SIMPLE = frozenset((str, int, bool, type(None)))


def key_text(value: Any) -> str:
    """One text for each value: 1 and 1.0 are the same key, 1 and true and "1" are not."""
    if _is_simple(value):
        try:
            return _encode_simple(value).decode()
        except (ValueError, OverflowError):
            pass  # a number or a text that it has no form for
    return _encode(_plain(value))


def _is_simple(value: Any) -> bool:
    """Whether there is no number with a fraction: only the careful way writes those as they have always been."""
    kind = type(value)
    if kind is list:
        return all(map(_is_simple, value))
    return kind in _SIMPLE or (kind is dict and all(map(_is_simple, value.values())))


def _plain(value: Any) -> Any:
    if type(value) is str or value is None:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value
