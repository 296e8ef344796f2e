"""Plain JSON read at once: whatever is not surely right is left to who looks closer, and can say what is wrong."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.flow.values.payload import MAX_DEPTH, MAX_KEYS


def quick_json(raw: bytes) -> Any:
    """The value of a JSON text that is surely right; UNSET where somebody must look closer.

    The quick parser keeps the last of two equal keys: what it made has then fewer colons than the text had.
    """
    colons = raw.count(b":")
    if (
        colons > MAX_KEYS
        or raw.find(b"\\u") >= 0
        or raw.translate(_ANY_DIGIT).find(_LONG_NUMBER) >= 0
        or (raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and not _is_flat(raw))
    ):
        return msgspec.UNSET
    try:
        value = _decode(raw)
        return value if _encode(value).count(b":") == colons else msgspec.UNSET
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.UNSET


def _is_flat(raw: bytes) -> bool:
    """Whether brackets, those in texts aside, are nested no deeper than allowed: each round takes the innermost."""
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    left = b"".join(plain.split(b'"')[::2]).translate(_BRACKETS, _NO_BRACKET)
    for _ in range(MAX_DEPTH):
        if not left:
            return True
        left = left.replace(b"[]", b"")
    return not left


_ANY_DIGIT, _LONG_NUMBER = bytes.maketrans(b"123456789", b"000000000"), b"0" * 19
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_decode, _encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
