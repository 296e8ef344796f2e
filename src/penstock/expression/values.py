"""The values of an expression: plain JSON as Python has it, and the few types that JSON lacks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Final

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.limits import MAX_INT, MIN_INT


class UInt(int):
    """An unsigned 64-bit integer; dispatch is by exact type, so it is never taken for an int."""


class Timestamp(int):
    """Nanoseconds since 1970 in UTC."""


class Duration(int):
    """Nanoseconds."""


class TypeValue:
    """The type of a value, itself a value; there is one object for each type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class BoolKey:
    """A bool as key of a map: Python takes `True` and `1` for the same key."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


TRUE_KEY, FALSE_KEY = BoolKey(True), BoolKey(False)
NUMBERS: Final = frozenset({int, UInt, float})
ODD: Final = frozenset({int, datetime})
"""Types of the scope that `adopt` has to look at."""
IPS: Final = frozenset({IPv4Address, IPv6Address})
NETWORKS: Final = frozenset({IPv4Network, IPv6Network})
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_PYTHON_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (int, "int"),
    (UInt, "uint"),
    (float, "double"),
    (bool, "bool"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (dict, "map"),
    (type(None), "null_type"),
    (Timestamp, "google.protobuf.Timestamp"),
    (Duration, "google.protobuf.Duration"),
    (TypeValue, "type"),
    (IPv4Address, "net.IP"),
    (IPv4Network, "net.CIDR"),
)
TYPES: Final[dict[str, TypeValue]] = {name: TypeValue(name) for _, name in _PYTHON_TYPES}
_TYPE_OF: Final[dict[type, TypeValue]] = {python: TYPES[name] for python, name in _PYTHON_TYPES}
_TYPE_OF[IPv6Address], _TYPE_OF[IPv6Network] = TYPES["net.IP"], TYPES["net.CIDR"]
_SPOKEN: Final = {
    "null_type": "null",
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
}
_SPOKEN.update({"net.IP": "ip", "net.CIDR": "cidr"})


def type_of(value: Any) -> TypeValue:
    """The type of a value; a fault for a Python object that is not JSON."""
    found = _TYPE_OF.get(value.__class__)
    if found is None:
        raise Fault("not_json", f"a Python `{value.__class__.__name__}` cannot be used in an expression")
    return found


def spoken(value: Any) -> str:
    """The type of a value as messages name it, with its article."""
    name = type_of(value).name
    name = _SPOKEN.get(name, name)
    return name if name in ("null", "bytes") else f"an {name}" if name in ("int", "ip") else f"a {name}"


def adopt(value: Any, place: SourcePosition | None = None) -> Any:
    """A value of the scope as an expression holds it: times become timestamps, ints must fit 64 bits."""
    kind = value.__class__
    if kind is int and not MIN_INT <= value <= MAX_INT:
        raise Fault("overflow", "a whole number of the data does not fit 64 bits", place)
    if kind is datetime:
        if value.tzinfo is None:
            raise Fault("not_json", "a time of the data has no time zone", place)
        since = value - EPOCH
        return Timestamp((since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000)
    return value


def map_key(key: Any) -> Any:
    """The key of a map as the dict stores it; a fault for a value that cannot be a key."""
    kind = key.__class__
    if kind is str or kind is int or kind is UInt:
        return key
    if kind is bool:
        return TRUE_KEY if key else FALSE_KEY
    raise Fault("no_such_overload", f"{spoken(key)} cannot be the key of a map")


def keys_of(mapping: dict[Any, Any]) -> Iterator[Any]:
    """The keys of a map as values, one at a time."""
    return (key.value if key.__class__ is BoolKey else key for key in mapping)
