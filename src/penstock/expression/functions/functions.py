"""The functions an expression may call: name, style, and how many arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from penstock.expression.functions import conversions, patterns, strings
from penstock.expression.functions.times import GETTERS, read_field
from penstock.expression.limits import Env, charge
from penstock.expression.values import type_of

_ZONE_COST = 20


class Function(msgspec.Struct, frozen=True):
    """A function: as `f(a, b)` when `free`, as `a.f(b)` when `method`; the counts include the target."""

    run: Callable[..., Any]
    minimum: int
    maximum: int
    free: bool
    method: bool


def _free(run: Callable[..., Any], count: int = 1) -> Function:
    return Function(run, count, count, True, False)


def _method(run: Callable[..., Any], minimum: int, maximum: int = 0) -> Function:
    return Function(run, minimum, maximum or minimum, False, True)


def _getter(name: str) -> Callable[..., int]:
    def run(env: Env, value: Any, zone: Any = None) -> int:
        # A zone may have to be read from disk.
        charge(env, 1 if zone is None else _ZONE_COST)
        return read_field(name, value, zone)

    return run


FUNCTIONS: dict[str, Function] = {
    "size": Function(strings.size, 1, 1, True, True),
    "matches": Function(patterns.matches, 2, 2, True, True),
    "int": _free(conversions.to_int),
    "uint": _free(conversions.to_uint),
    "double": _free(conversions.to_double),
    "string": _free(conversions.to_string),
    "bool": _free(conversions.to_bool),
    "bytes": _free(conversions.to_bytes),
    "type": _free(lambda env, value: type_of(value)),
    "dyn": _free(lambda env, value: value),
    "duration": _free(conversions.to_duration),
    "timestamp": _free(conversions.to_timestamp),
    "glob": _free(patterns.glob, 2),
    "ip": _free(patterns.read_ip),
    "cidr": _free(patterns.read_cidr),
    "contains": _method(strings.contains, 2),
    "startsWith": _method(strings.starts_with, 2),
    "endsWith": _method(strings.ends_with, 2),
    "lowerAscii": _method(strings.lower_ascii, 1),
    "upperAscii": _method(strings.upper_ascii, 1),
    "trim": _method(strings.trim, 1),
    "split": _method(strings.split, 2, 3),
    "join": _method(strings.join, 1, 2),
    "replace": _method(strings.replace, 3, 4),
    "substring": _method(strings.substring, 2, 3),
    "indexOf": _method(strings.index_of, 2, 3),
    "lastIndexOf": _method(strings.last_index_of, 2, 3),
    "charAt": _method(strings.char_at, 2),
    **{name: _method(_getter(name), 1, 2) for name in GETTERS},
}
MACROS = ("has", "all", "exists", "exists_one", "filter", "map")
