"""What an expression becomes: closures that read the scope, call functions, decide, calculate, compare and loop.

`data.tags.mime` is one closure, for most of what expressions do is this; every step of a loop is charged.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.functions.arithmetic import OPERATIONS
from penstock.expression.functions.equality import require_order
from penstock.expression.limits import MAX_COST, MAX_INT, MIN_INT, Env, charge
from penstock.expression.values import NUMBERS, ODD, UInt, adopt, keys_of, map_key, spoken

Run = Callable[[Env], Any]
_MISS = (KeyError, TypeError, IndexError)


# -- reading --------------------------------------------------------------------------------------------------


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
    if value.__class__ is dict and field in value:
        return value[field]
    shown = f"`{spelled}`" if spelled != "this value" else spelled
    if value.__class__ is dict:
        raise Fault("no_such_key", f"{shown} has no key `{field[:80]}`", place, value, field)
    message = f"{shown} is {spoken(value)}, which has no field `{field[:80]}`"
    raise Fault("no_such_overload", message, place)


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
        if (kind is int and not MIN_INT <= value <= MAX_INT) or kind is datetime:
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
        if (kind is int and not MIN_INT <= value <= MAX_INT) or kind is datetime:
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


# -- calls of functions: a fault without a place gets that of the call ----------------------------------------


def call(function: Callable[..., Any], arguments: Sequence[Run], place: SourcePosition) -> Run:
    """The closure of `function(env, *arguments)`; one and two arguments are the common and the fast ones."""
    if len(arguments) == 1:
        return _call_one(function, arguments[0], place)
    if len(arguments) == 2:
        return _call_two(function, arguments[0], arguments[1], place)

    def run(env: Env) -> Any:
        values = [argument(env) for argument in arguments]
        try:
            return function(env, *values)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run


def _call_one(function: Callable[..., Any], argument: Run, place: SourcePosition) -> Run:
    def run(env: Env) -> Any:
        value = argument(env)
        try:
            return function(env, value)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run


def _call_two(function: Callable[..., Any], first: Run, second: Run, place: SourcePosition) -> Run:
    def run(env: Env) -> Any:
        one, other = first(env), second(env)
        try:
            return function(env, one, other)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run


# -- operators ------------------------------------------------------------------------------------------------


_ABSORBED = 8
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def not_bool(value: Any, place: SourcePosition, sign: str) -> Fault:
    """The fault of a condition that is not true or false."""
    return Fault("no_such_overload", f"`{sign}` needs true or false, not {spoken(value)}", place)


def decided_by(sign: str, terms: Iterable[tuple[Run, SourcePosition]]) -> Run:
    """`a && b …` or `a || b …`: one false, or one true, decides, even if another term fails."""
    pairs, answer = tuple(terms), sign == "||"
    otherwise = not answer

    def run(env: Env) -> bool:
        held: Fault | None = None
        for term, place in pairs:
            try:
                value = term(env)
            except Fault as fault:
                held = absorbed(env, held, fault)
                continue
            if value is answer:
                return answer is True
            if value is not otherwise:
                held = held or not_bool(value, place, sign)
        if held is not None:
            raise held
        return otherwise

    return run


def absorbed(env: Env, held: Fault | None, fault: Fault) -> Fault:
    """The first fault, kept until no other term decides; a final one is raised at once."""
    if fault.final:
        raise fault
    env[1] += _ABSORBED
    return held or fault


def invert(operand: Run, place: SourcePosition) -> Run:
    """`!a`."""

    def run(env: Env) -> bool:
        value = operand(env)
        if value.__class__ is bool:
            return value is False
        raise not_bool(value, place, "!")

    return run


def choose(cases: Sequence[tuple[Run, Run, SourcePosition]], default: Run) -> Run:
    """`condition ? value : default`: only the chosen value is evaluated."""
    cases = tuple(cases)

    def run(env: Env) -> Any:
        for condition, value, place in cases:
            chosen = condition(env)
            if chosen is True:
                return value(env)
            if chosen is not False:
                raise not_bool(chosen, place, "? :")
        return default(env)

    return run


def calculate(first: Run, rest: Sequence[tuple[str, Run, SourcePosition]]) -> Run:
    """`a + b - c …`, from left to right."""
    steps = tuple((OPERATIONS[sign], term, place) for sign, term, place in rest)

    def run(env: Env) -> Any:
        value = first(env)
        for operation, term, place in steps:
            other = term(env)
            try:
                value = operation(env, value, other)
            except Fault as fault:
                fault.place = fault.place or place
                raise
        return value

    return run


def equals_text(left: Run, text: str, wanted: bool) -> Run:
    """`a == "text"`: a string equals nothing but a string."""
    if wanted:
        return lambda env: left(env) == text
    return lambda env: left(env) != text


def equals_number(left: Run, number: Any, wanted: bool) -> Run:
    """`a == 1`: a bool is no number, though Python says so."""

    def run(env: Env) -> bool:
        value = left(env)
        return (value == number and value.__class__ in NUMBERS) is wanted

    return run


def compare(sign: str, left: Run, right: Run, place: SourcePosition) -> Run:
    """`a < b` and its kin."""
    decide = _COMPARE[sign]

    def run(env: Env) -> bool:
        one, other = left(env), right(env)
        kind = one.__class__
        if not (kind is int and other.__class__ is int):
            try:
                require_order(env, one, other)
            except Fault as fault:
                fault.place = fault.place or place
                raise
        return decide(one, other)

    return run


def compare_number(sign: str, left: Run, number: Any, place: SourcePosition) -> Run:
    """`a < 1` and its kin."""
    decide = _COMPARE[sign]

    def run(env: Env) -> bool:
        value = left(env)
        if value.__class__ in NUMBERS:
            return decide(value, number)
        raise Fault("no_such_overload", f"{spoken(value)} cannot be ordered against {spoken(number)}", place)

    return run


def one_of_texts(left: Run, texts: frozenset[str]) -> Run:
    """`a in ["x", "y"]`."""

    def run(env: Env) -> bool:
        value = left(env)
        return value.__class__ is str and value in texts

    return run


# -- loops ----------------------------------------------------------------------------------------------------


class Body:
    """What a loop goes over, where it keeps its variable, and what one step costs."""

    __slots__ = ("over", "place", "slot", "units")

    def __init__(self, over: Run, slot: int, units: int, place: SourcePosition) -> None:
        self.over, self.slot, self.units, self.place = over, slot, units, place

    def items(self, env: Env) -> Iterable[Any]:
        """The items, each charged as it is taken."""
        values = self.over(env)
        kind = values.__class__
        if kind is dict:
            values = keys_of(values)
        elif kind is not list:
            message = f"a loop goes over a list or a map, not {spoken(values)}"
            raise Fault("no_such_overload", message, self.place)
        slot, units = self.slot, self.units
        for value in values:
            env[1] += units
            if env[1] > MAX_COST:
                charge(env, 0)
            if value.__class__ in ODD:
                value = adopt(value, self.place)
            env[slot] = value
            yield value


def decide(body: Body, condition: Run, stop: bool) -> Run:
    """`all` (stop at false) or `exists` (stop at true): what decides absorbs the faults of other items."""
    sign = "exists" if stop else "all"

    def run(env: Env) -> bool:
        held: Fault | None = None
        for _ in body.items(env):
            try:
                value = condition(env)
            except Fault as fault:
                held = absorbed(env, held, fault)
                continue
            if value is stop:
                return bool(value)
            if value.__class__ is not bool:
                held = held or not_bool(value, body.place, sign)
        if held is not None:
            raise held
        return not stop

    return run


def _holds(condition: Run, env: Env, body: Body, sign: str) -> bool:
    value = condition(env)
    if value.__class__ is bool:
        return value is True
    raise not_bool(value, body.place, sign)


def exactly_one(body: Body, condition: Run) -> Run:
    """`exists_one`."""

    def run(env: Env) -> bool:
        return sum(_holds(condition, env, body, "exists_one") for _ in body.items(env)) == 1

    return run


def keep(body: Body, condition: Run) -> Run:
    """`filter`."""

    def run(env: Env) -> list[Any]:
        return [value for value in body.items(env) if _holds(condition, env, body, "filter")]

    return run


def transform(body: Body, condition: Run | None, result: Run) -> Run:
    """`map`, with or without a condition."""
    if condition is None:
        return lambda env: [result(env) for _ in body.items(env)]

    def run(env: Env) -> list[Any]:
        return [result(env) for _ in body.items(env) if _holds(condition, env, body, "map")]

    return run
