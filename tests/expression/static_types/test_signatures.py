"""The table of overloads says what the functions do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from penstock.expression.closures import invert, item_of
from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.functions import functions
from penstock.expression.functions.arithmetic import OPERATIONS, negate
from penstock.expression.functions.equality import contains, require_order
from penstock.expression.functions.patterns import read_cidr, read_ip
from penstock.expression.types import signatures
from penstock.expression.types.types import KINDS
from penstock.expression.values import TYPES, Duration, Timestamp, UInt

ENV: list[Any] = [None, 0]
PLACE = SourcePosition("", 0)
SAMPLES: dict[str, Any] = {
    "null": None,
    "bool": True,
    "int": 1,
    "uint": UInt(1),
    "double": 1.0,
    "string": "1",
    "bytes": b"1",
    "timestamp": Timestamp(0),
    "duration": Duration(0),
    "type": TYPES["int"],
    "ip": read_ip(ENV, "10.0.0.1"),
    "cidr": read_cidr(ENV, "10.0.0.0/8"),
    "list": ["a", "b"],
    "map": {"1": 1, 1: 1, UInt(1): 1},
}


def compared(env: Any, left: Any, right: Any) -> None:
    require_order(env, left, right)


RUN: dict[str, tuple[Callable[..., Any], int, int]] = {
    **{name: (each.run, each.minimum, each.maximum) for name, each in functions.FUNCTIONS.items()},
    **{sign: (run, 2, 2) for sign, run in OPERATIONS.items()},
    **{sign: (compared, 2, 2) for sign in ("<", "<=", ">", ">=")},
    "negation": (negate, 1, 1),
    "!": (lambda env, value: invert(lambda _: value, PLACE)(env), 1, 1),
    "in": (contains, 2, 2),
    "[]": (lambda env, container, key: item_of(container, key, PLACE), 2, 2),
}
TABLE = {**signatures.FUNCTIONS, **signatures.OPERATORS, "[]": signatures.INDEX}


def takes(run: Callable[..., Any], kinds: tuple[str, ...]) -> bool:
    """Whether a function is defined for such values; other faults are those of the values."""
    try:
        run([None, 0], *(SAMPLES[kind] for kind in kinds))
    except Fault as fault:
        return fault.code != "no_such_overload"
    return True


def test_every_function_and_operator_has_its_overloads() -> None:
    assert TABLE.keys() == RUN.keys()
    assert SAMPLES.keys() == set(KINDS)


@pytest.mark.parametrize("name", sorted(RUN))
def test_the_overloads_are_those_that_the_function_takes(name: str) -> None:
    run, minimum, maximum = RUN[name]

    taken = {
        kinds
        for count in range(minimum, maximum + 1)
        for kinds in product(KINDS, repeat=count)
        if takes(run, kinds)
    }

    assert set(TABLE[name]) == taken
