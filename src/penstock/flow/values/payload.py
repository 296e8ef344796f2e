"""Payloads: a value as plain JSON, copied, within the limits of size, depth, keys and length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import msgspec

MAX_DEPTH, MAX_KEYS = 64, 10_000
"""Levels of JSON inside each other, and keys of one object."""

KEY, SUBJECT, EVENT = 512, 1_000, 128
"""Characters, of which each may have two bytes in UTF-8 on average."""


def length_problem(text: str, max_length: int = KEY) -> str | None:
    """What is wrong with the length of a text, to stand behind its name; None: nothing."""
    if len(text) <= max_length // 4:  # no character has more than four bytes
        return None
    if len(text) > max_length:
        return f"has {len(text):,} characters, {max_length:,} at most: use a shorter one"
    size = len(text.encode("utf-8", "surrogatepass"))
    return (
        f"has {size:,} bytes in UTF-8, {2 * max_length:,} at most: use a shorter one"
        if size > 2 * max_length
        else None
    )


def is_storable(text: Any) -> bool:
    """Whether it is a text that a database can keep: without NUL, and without half of a surrogate pair."""
    if not isinstance(text, str):
        return False
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


PAYLOAD_LIMIT = 256 * 1024
"""Bytes of JSON that one payload may have, where nobody says otherwise."""

DATA_LIMIT = 1024 * 1024
"""Bytes of JSON that the data of a run may have."""


_in_force = [PAYLOAD_LIMIT]


def payload_limit() -> int:
    """Bytes of JSON that one payload may have in this process."""
    return _in_force[0]


def set_payload_limit(limit: int = PAYLOAD_LIMIT) -> None:
    """Let payloads have so many bytes: said once, by who starts the process."""
    _in_force[0] = limit


class TooLarge(Exception):
    """A payload is over the limit."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"has {size} bytes of JSON, {limit} at most: keep it elsewhere and hand on a reference"
        )
        self.size, self.limit = size, limit


class NotJson(Exception):
    """A value has no form in JSON."""


def pure(value: Any, limit: int | None = None) -> Any:
    """A copy in plain JSON: what is done to the value later does not change the run. Raises TooLarge, NotJson."""
    if value is None or value is True or value is False:
        return value
    try:
        text = _encode(value)
        if len(text) > (max_length := limit or _in_force[0]):
            raise TooLarge(len(text), max_length)
        # By `find`: `in` takes several times as long on a short text, and every payload comes by here.
        if text.find(b"null") >= 0 or text.translate(_ANY_DIGIT).find(_LONG_NUMBER) >= 0:
            _validate_numbers(value)
        if text.find(b"\\u0000") >= 0 and _NUL.search(text) is not None:
            raise ValueError("a text has a NUL character, which no database keeps: leave it out")
        made = _decode(text)
        # One that has fewer brackets is not so deep, and one that is shorter has not so many keys.
        if len(text) > 2 * MAX_DEPTH and (
            len(text) > 5 * MAX_KEYS or text.count(b"[") + text.count(b"{") > MAX_DEPTH
        ):
            _validate_shape(made, MAX_DEPTH)
        return made
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotJson(str(error)) from error


def storable_text(text: str) -> str:
    """A text as every database keeps it: a mark stands for NUL and for half of a surrogate pair."""
    return _UNKEPT.sub("\ufffd", text)


def plain(value: Any, limit: int | None = None) -> Any:
    """As `pure`, but what JSON has no form for is not given one. Raises TooLarge, NotJson."""
    made = pure(value, limit)
    if made != value:
        _validate_containers(value)
    return made


def validate_data_size(data: Any) -> None:
    """The data of a run stays within its limit. Raises TooLarge."""
    size, max_length = len(_encode(data)), max(DATA_LIMIT, payload_limit())
    if size > max_length:
        raise TooLarge(size, max_length)


def copied(value: Any) -> Any:
    """A copy of plain JSON that shares nothing with it that could be changed."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()} if value else {}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_UNKEPT = re.compile("[\0\ud800-\udfff]")
_ANY_DIGIT, _LONG_NUMBER = bytes.maketrans(b"123456789", b"000000000"), b"0" * 19


def _validate_numbers(value: Any) -> None:
    """NaN and infinity would silently become null; a whole number beyond 64 bits cannot be stored."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a number of JSON")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit into 64 bits")
    items: Iterable[Any] = ()
    if isinstance(value, dict | Mapping):
        items = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        items = value
    for item in items:
        if type(item) is not str and item is not None:  # what most are
            _validate_numbers(item)


def _validate_shape(value: Any, levels: int) -> None:
    """What is nested too deep, or has too many keys, costs whoever reads it more than its size tells."""
    if isinstance(value, dict):
        if len(value) > MAX_KEYS:
            raise ValueError(f"an object has {len(value)} keys, {MAX_KEYS} at most")
        value = value.values()
    elif not isinstance(value, list):
        return
    if levels == 0:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    for item in value:
        if isinstance(item, dict | list):
            _validate_shape(item, levels - 1)


def _validate_containers(value: Any) -> None:
    """A set has no order, and keys that are no texts may become the same text."""
    if isinstance(value, set | frozenset):
        raise NotJson("a set has no form in JSON: give a list")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJson(f"the key {key!r} is no text")
            _validate_containers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _validate_containers(item)


def _encode_model(value: Any) -> Any:
    """A pydantic model as it is written in JSON."""
    if not (hasattr(value, "model_dump") and hasattr(value, "model_validate_json")):
        raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")
    made = value.model_dump(mode="json", by_alias=True)
    _validate_numbers(made)
    return made


_encode, _decode = msgspec.json.Encoder(enc_hook=_encode_model).encode, msgspec.json.Decoder().decode
