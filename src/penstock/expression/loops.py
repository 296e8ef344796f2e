"""The closures of `all`, `exists`, `exists_one`, `filter` and `map`; every step is charged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.limits import COST, Env, charge
from penstock.expression.operators import absorbed, not_bool
from penstock.expression.paths import Run
from penstock.expression.values import ODD, adopt, keys_of, spoken


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
            if env[1] > COST:
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
