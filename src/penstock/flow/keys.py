"""Keys of `match` and `serialize`: any JSON value as a text, equal where CEL calls the values equal."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def key_text(value: Any) -> str:
    """One text for each value: 1 and 1.0 are the same key, 1 and true and "1" are not."""
    return _encode(_plain(value))


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
