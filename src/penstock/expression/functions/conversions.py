"""Conversions between types: `int("5")`, `string(2.5)`, `timestamp("2026-01-31T08:00:00Z")`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from penstock.expression.errors import Fault
from penstock.expression.functions.times import (
    SECOND,
    checked_timestamp,
    read_duration,
    read_timestamp,
    write_duration,
    write_timestamp,
)
from penstock.expression.limits import MAX_INT, MAX_UINT, MIN_INT, Env, charge
from penstock.expression.values import IPS, NETWORKS, NUMBERS, Duration, Timestamp, UInt, spoken

T = TypeVar("T")
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?|[+-]?(?:inf|infinity)|nan",
    re.ASCII | re.I,
)
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def _cannot(value: Any, wanted: str) -> Fault:
    return Fault("no_such_overload", f"{spoken(value)} cannot be converted to {wanted}")


def _converted(value: Any, wanted: str, by_type: Mapping[type, Callable[[Any], T]]) -> T:
    convert = by_type.get(value.__class__)
    if convert is None:
        raise _cannot(value, wanted)
    return convert(value)


def _unreadable(text: str, wanted: str) -> Fault:
    return Fault("bad_value", f"`{text[:40]}` cannot be read as {wanted}")


def _whole(value: Any, wanted: str) -> int:
    kind = value.__class__
    if kind is float:
        if not math.isfinite(value):
            raise Fault("overflow", f"{value} does not fit {wanted}")
        return int(value)
    if kind in NUMBERS:
        return int(value)
    if kind is str:
        if len(value) <= 41 and _WHOLE.fullmatch(value):
            return int(value)
        raise _unreadable(value, wanted)
    raise _cannot(value, wanted)


def to_int(env: Env, value: Any) -> int:
    """`int(value)`: doubles lose their fraction, a timestamp gives its seconds since 1970."""
    if value.__class__ is Timestamp:
        return int(value) // SECOND
    whole = _whole(value, "an int")
    # A double this near the edge has been rounded: it may stand for a number outside.
    edge = value.__class__ is float and not MIN_INT < value < MAX_INT
    if edge or not MIN_INT <= whole <= MAX_INT:
        raise Fault("overflow", "the number does not fit an int")
    return whole


def to_uint(env: Env, value: Any) -> UInt:
    """`uint(value)`."""
    whole = _whole(value, "a uint")
    if value.__class__ is str and value[0] in "+-":
        raise _unreadable(value, "a uint")
    edge = value.__class__ is float and (value < 0 or value >= MAX_UINT)
    if edge or not 0 <= whole <= MAX_UINT:
        raise Fault("overflow", "the number does not fit a uint")
    return UInt(whole)


def to_double(env: Env, value: Any) -> float:
    """`double(value)`."""
    kind = value.__class__
    if kind in NUMBERS:
        return float(value)
    if kind is str:
        if len(value) <= 400 and _DECIMAL.fullmatch(value):
            return float(value)
        raise _unreadable(value, "a double")
    raise _cannot(value, "a double")


def to_bool(env: Env, value: Any) -> bool:
    """`bool(value)`."""
    kind = value.__class__
    if kind is bool:
        return bool(value)
    if kind is not str:
        raise _cannot(value, "a bool")
    if value not in _TRUE and value not in _FALSE:
        raise _unreadable(value, "a bool")
    return value in _TRUE


def to_bytes(env: Env, value: Any) -> bytes:
    """`bytes(value)`: the UTF-8 of a string."""
    kind = value.__class__
    if kind is bytes:
        return bytes(value)
    if kind is not str:
        raise _cannot(value, "bytes")
    charge(env, 1 + len(value) // 8)
    return encoded(value)


def encoded(text: str) -> bytes:
    """The UTF-8 of a text; a fault where it holds half a character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Fault("bad_value", "the text holds half a character (a lone surrogate)") from None


def to_string(env: Env, value: Any) -> str:
    """`string(value)`."""
    if value.__class__ is bytes:
        charge(env, 1 + len(value) // 8)
    return _converted(value, "a string", _TO_STRING)


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Fault("bad_value", "the bytes are not a text in UTF-8") from None


def write_double(value: float) -> str:
    """The shortest text that reads back as the same double."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, _, exponent = _shortest(value).partition("e")
    if -5 < int(exponent) < 21:
        return f"{value:.{max(0, len(digits.replace('.', '').lstrip('-')) - 1 - int(exponent))}f}"
    return f"{digits}e{exponent}"


def _shortest(value: float) -> str:
    for precision in range(17):
        text = f"{value:.{precision}e}"
        if float(text) == value:
            return text
    return f"{value:.17e}"


def to_timestamp(env: Env, value: Any) -> Timestamp:
    """`timestamp(value)`: from RFC 3339, or from the seconds since 1970."""
    return _converted(value, "a timestamp", _TO_TIMESTAMP)


def to_duration(env: Env, value: Any) -> Duration:
    """`duration(value)`."""
    return _converted(value, "a duration", _TO_DURATION)


_TO_STRING: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((str, *NUMBERS, *IPS, *NETWORKS), str),
    bool: lambda value: "true" if value else "false",
    float: write_double,
    bytes: _decoded,
    Timestamp: write_timestamp,
    Duration: write_duration,
}
_TO_TIMESTAMP: dict[type, Callable[[Any], Timestamp]] = {
    Timestamp: Timestamp,
    int: lambda value: checked_timestamp(value * SECOND),
    str: read_timestamp,
}
_TO_DURATION: dict[type, Callable[[Any], Duration]] = {Duration: Duration, str: read_duration}
