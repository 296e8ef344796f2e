"""Equality and order of values: numbers compare across their types, a bool is never a number."""

from __future__ import annotations

from typing import Any

from penstock.expression.errors import Fault
from penstock.expression.limits import CHARGED_LENGTH, Env, charge
from penstock.expression.values import NUMBERS, Duration, Timestamp, UInt, map_key, spoken

_ORDERED = frozenset({int, UInt, float, str, bool, bytes, Timestamp, Duration})


def equal(env: Env, left: Any, right: Any) -> bool:
    """Whether two values are equal; values of different types are not, except numbers."""
    kind, other = left.__class__, right.__class__
    if kind is other:
        if kind is list:
            return _equal_lists(env, left, right)
        if kind is dict:
            return _equal_maps(env, left, right)
        if kind is str and len(left) > CHARGED_LENGTH:
            charge(env, len(left) // CHARGED_LENGTH)
        return bool(left == right)
    return kind in NUMBERS and other in NUMBERS and bool(left == right)


def unequal(env: Env, left: Any, right: Any) -> bool:
    """Whether two values are not equal."""
    return not equal(env, left, right)


def _equal_lists(env: Env, left: list[Any], right: list[Any]) -> bool:
    if len(left) != len(right):
        return False
    charge(env, len(left))
    return all(equal(env, a, b) for a, b in zip(left, right, strict=True))


def _equal_maps(env: Env, left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if left.keys() != right.keys():
        return False
    charge(env, len(left))
    return all(equal(env, value, right[key]) for key, value in left.items())


def require_order(env: Env, left: Any, right: Any) -> None:
    """Raise a fault unless `<` and its kin are defined between the two."""
    kind, other = left.__class__, right.__class__
    if kind is str and len(left) > CHARGED_LENGTH:
        charge(env, len(left) // CHARGED_LENGTH)
    if (kind is other and kind in _ORDERED) or (kind in NUMBERS and other in NUMBERS):
        return
    raise Fault("no_such_overload", f"{spoken(left)} cannot be ordered against {spoken(right)}")


def contains(env: Env, item: Any, container: Any) -> bool:
    """Whether a list holds an item, or a map a key."""
    kind = container.__class__
    if kind is dict:
        return (item if item.__class__ is float else map_key(item)) in container
    if kind is not list:
        raise Fault("no_such_overload", f"`in` needs a list or a map on its right, not {spoken(container)}")
    charge(env, 1 + len(container) // 8)
    if item.__class__ is str:
        charge(env, len(item) // 256)
        return item in container
    return any(equal(env, item, each) for each in container)
