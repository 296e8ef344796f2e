"""Reading the scope: `data.tags.mime` is one closure, for most of what expressions do is this."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.limits import INT_HIGH, INT_LOW, Env
from penstock.expression.values import ODD, UInt, adopt, map_key, spoken

Run = Callable[[Env], Any]
_MISS = (KeyError, TypeError, IndexError)


class Steps:
    """A literal path below a variable: its fields, and the place of each for errors."""

    __slots__ = ("fields", "places", "spelled")

    def __init__(self, spelled: str, fields: tuple[str, ...], places: tuple[SourcePosition, ...]) -> None:
        self.spelled, self.fields, self.places = spelled, fields, places

    def fail(self, value: Any) -> Any:
        """Walk again, slowly, to raise the fault that says which field is missing."""
        spelled = self.spelled
        for field, place in zip(self.fields, self.places, strict=True):
            value = select(value, field, place, spelled)
            spelled = f"{spelled}.{field}"
        return adopt(value)


def select(value: Any, field: str, place: SourcePosition, spelled: str = "this value") -> Any:
    """The field of a map; a fault that names what is there where it has none."""
    if value.__class__ is not dict:
        shown = f"`{spelled}`" if spelled != "this value" else spelled
        message = f"{shown} is {spoken(value)}, which has no field `{field[:80]}`"
        raise Fault("no_such_overload", message, place)
    try:
        return value[field]
    except KeyError:
        shown = f"`{spelled}`" if spelled != "this value" else spelled
        raise Fault("no_such_key", f"{shown} has no key `{field[:80]}`", place, value, field) from None


def read_root(name: str, place: SourcePosition) -> Run:
    """The closure that reads a variable of the scope."""

    def run(env: Env) -> Any:
        try:
            value = env[0][name]
        except KeyError:
            raise unknown(env, name, place) from None
        return adopt(value, place)

    return run


def unknown(env: Env, name: str, place: SourcePosition) -> Fault:
    """The fault of a variable that the scope lacks."""
    return Fault("unknown_name", f"there is no `{name}` here", place, tuple(env[0]), name)


def read_path(root: str, place: SourcePosition, steps: Steps) -> Run:
    """The closure that reads a path of the scope."""
    if len(steps.fields) == 1:
        return _read_one(root, place, steps)
    if len(steps.fields) == 2:
        return _read_two(root, place, steps)
    return _read_many(root, place, steps)


def _failed(env: Env, root: str, place: SourcePosition, steps: Steps) -> Any:
    try:
        value = env[0][root]
    except KeyError:
        raise unknown(env, root, place) from None
    return steps.fail(value)


def _read_one(root: str, place: SourcePosition, steps: Steps) -> Run:
    (field,) = steps.fields

    def run(env: Env) -> Any:
        try:
            value = env[0][root][field]
        except _MISS:
            return _failed(env, root, place, steps)
        kind = value.__class__
        if (kind is int and not INT_LOW <= value <= INT_HIGH) or kind is datetime:
            return adopt(value, place)
        return value

    return run


def _read_two(root: str, place: SourcePosition, steps: Steps) -> Run:
    first, second = steps.fields

    def run(env: Env) -> Any:
        try:
            value = env[0][root][first][second]
        except _MISS:
            return _failed(env, root, place, steps)
        kind = value.__class__
        if (kind is int and not INT_LOW <= value <= INT_HIGH) or kind is datetime:
            return adopt(value, place)
        return value

    return run


def _read_many(root: str, place: SourcePosition, steps: Steps) -> Run:
    fields = steps.fields

    def run(env: Env) -> Any:
        try:
            value = env[0][root]
            for field in fields:
                value = value[field]
        except _MISS:
            return _failed(env, root, place, steps)
        return adopt(value, place)

    return run


def read_below(operand: Run, steps: Steps) -> Run:
    """The closure that reads a path below any value."""
    first, *rest = steps.fields

    def run(env: Env) -> Any:
        start = operand(env)
        try:
            value = start[first]
            for field in rest:
                value = value[field]
        except _MISS:
            return steps.fail(start)
        return adopt(value) if value.__class__ in ODD else value

    return run


def read_item(slot: int, steps: Steps) -> Run:
    """The closure that reads one field of a loop's variable."""
    (field,) = steps.fields

    def run(env: Env) -> Any:
        try:
            value = env[slot][field]
        except _MISS:
            return steps.fail(env[slot])
        return adopt(value) if value.__class__ in ODD else value

    return run


def read_index(operand: Run, key: Run, place: SourcePosition) -> Run:
    """The closure of `operand[key]`."""

    def run(env: Env) -> Any:
        return adopt(item_of(operand(env), key(env), place), place)

    return run


def item_of(container: Any, key: Any, place: SourcePosition) -> Any:
    """The item of a list or a map; a fault where there is none."""
    kind = container.__class__
    if kind is list:
        return _list_item(container, key, place)
    if kind is not dict:
        raise Fault("no_such_overload", f"{spoken(container)} has no items", place)
    if key.__class__ is str:
        return select(container, key, place)
    # A whole double finds the key of the same value, for numbers compare across their types.
    stored = int(key) if key.__class__ is float and key.is_integer() else map_key(key)
    try:
        return container[stored]
    except KeyError:
        raise Fault("no_such_key", f"this map has no key `{key}`", place) from None


def _list_item(container: list[Any], key: Any, place: SourcePosition) -> Any:
    kind = key.__class__
    if kind is float and key.is_integer():
        key = int(key)
    elif kind is not int and kind is not UInt:
        raise Fault("no_such_overload", f"the index of a list is an int, not {spoken(key)}", place)
    if 0 <= key < len(container):
        return container[key]
    count = len(container)
    message = f"the index {key} lies outside this list of {count} item{'s' * (count != 1)}"
    raise Fault("index_out_of_range", message, place)


def test_field(operand: Run, field: str, place: SourcePosition) -> Run:
    """The closure of `has(operand.field)`."""

    def run(env: Env) -> bool:
        value = operand(env)
        if value.__class__ is not dict:
            raise Fault("no_such_overload", f"`has` needs a map, not {spoken(value)}", place)
        return field in value

    return run
