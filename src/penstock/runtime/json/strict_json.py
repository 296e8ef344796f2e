"""JSON from strangers: rejects what two readers could interpret differently, or no store could keep."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isfinite
from typing import Any

from penstock.flow.errors import PenstockError
from penstock.flow.values.payload import MAX_DEPTH, MAX_KEYS


class Unreadable(PenstockError):
    """The request cannot be read. `code` says in which way, `place` by which parameter, where it is one."""

    def __init__(self, code: str, message: str, place: str | None = None) -> None:
        super().__init__(message if place is None else f"{place}: {message}")
        self.code = code
        self.errors = [] if place is None else [{"path": place, "code": code, "message": message}]


class WrongType(PenstockError):
    """The body is of a type that is not taken here."""

    code = "unsupported_media_type"


def read_json(raw: bytes) -> Any:
    """The value of a JSON text. Raises Unreadable with the codes of bad input."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Unreadable("invalid_unicode", "the body is not text in UTF-8") from None
    _validate_depth(text)
    if "\\u" in text and _half_pair(text):
        raise Unreadable("invalid_unicode", "a text has half of a surrogate pair: write whole characters")
    if "\\u0000" in text and _NUL.search(text) is not None:
        raise Unreadable("invalid_unicode", "a text has a NUL character, which cannot be kept: leave it out")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable("invalid_json", f"the body is not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise Unreadable("too_deep", f"the body is nested deeper than {MAX_DEPTH} levels") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable("duplicate_key", f"the key '{twice[:80]}' is there twice: keep one")
    if len(made) > MAX_KEYS:
        raise Unreadable("too_many_keys", f"an object has more than {MAX_KEYS} keys")
    return made


def _whole(text: str) -> int:
    number = int(text) if len(text) <= 20 else 2**63
    if not -(2**63) <= number < 2**63:
        raise Unreadable("number_out_of_range", "a whole number does not fit into 64 bits: send it as text")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise Unreadable("number_out_of_range", "a number is too large: send it as text")
    return number


def _constant(word: str) -> Any:
    raise Unreadable("invalid_number", f"{word} is no number of JSON: use null or a text")


_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
).decode

_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.S)
"""An unterminated text extends to the end; otherwise the rest would be read again at each quote, for hours."""
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_ESCAPES = re.compile(r"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.S)


def _validate_depth(text: str) -> None:
    """Before parsing: the parser itself gives up at some thousand levels, and not in our words."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable("too_deep", f"the body is nested deeper than {MAX_DEPTH} levels")
        elif mark in "]}":
            depth -= 1


def _half_pair(text: str) -> bool:
    """Whether some escaped surrogate stands alone."""
    end, high = -1, False
    for found in _ESCAPES.finditer(text):
        if found[1] is None:
            if high:
                return True
            continue
        low = found[1][1] in "cCdDeEfF"
        if low != (high and found.start() == end):
            return True
        high, end = not low, found.end()
        if high and not text.startswith("\\u", end):
            return True
    return high
