"""The value of an expression as plain JSON, and how big it is."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

from penstock.expression.errors import Fault
from penstock.expression.functions.times import write_duration, write_timestamp
from penstock.expression.values import BoolKey, Duration, Timestamp, TypeValue, UInt, adopt, spoken

_DEPTH = 200


def plain(value: Any, limit: int) -> Any:
    """`value` as JSON of at most about `limit` bytes; a fault where JSON has no such value."""
    kind = value.__class__
    if kind is bool or value is None or (kind is str and len(value) <= limit):
        return value
    return _Writer(limit).write(value, 0)


class _Writer:
    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.left = self.limit = limit

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise Fault("result_too_large", f"the result is larger than {self.limit // 1024} KiB")

    def write(self, value: Any, depth: int) -> Any:
        kind = value.__class__
        if kind is str:
            self.spend(len(value) + 2)
            return value
        if kind is list:
            self.deeper(depth, value)
            return [self.write(item, depth + 1) for item in value]
        if kind is dict:
            self.deeper(depth, value)
            return {self.key(key): self.write(item, depth + 1) for key, item in value.items()}
        self.spend(4)
        return self.scalar(value)

    def deeper(self, depth: int, value: Any) -> None:
        self.spend(2 + len(value))
        if depth > _DEPTH:
            raise Fault("result_too_large", f"the result is nested more than {_DEPTH} deep")

    def scalar(self, value: Any) -> Any:
        kind = value.__class__
        if kind is datetime:
            return write_timestamp(adopt(value))
        if kind is float and not math.isfinite(value):
            raise Fault("not_json", f"the result is {value}, which JSON cannot hold")
        if kind is bytes:
            self.spend(len(value) * 4 // 3)
        write = _SCALARS.get(kind)
        if write is not None:
            return write(value)
        raise Fault("not_json", f"{spoken(value)} has no form in JSON")

    def key(self, key: Any) -> str:
        kind = key.__class__
        self.spend(len(key) + 3 if kind is str else 8)
        if kind is str:
            return str(key)
        if kind is BoolKey:
            return "true" if key.value else "false"
        return str(int(key))


def _same(value: Any) -> Any:
    return value


_SCALARS: dict[type, Callable[[Any], Any]] = {
    bool: _same,
    type(None): _same,
    float: _same,
    int: adopt,
    UInt: int,
    bytes: lambda value: b64encode(value).decode(),
    Timestamp: write_timestamp,
    Duration: write_duration,
    TypeValue: lambda value: value.name,
    **dict.fromkeys((IPv4Address, IPv6Address, IPv4Network, IPv6Network), str),
}
