"""The closures of operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.functions.arithmetic import OPERATIONS
from penstock.expression.functions.equality import require_order
from penstock.expression.limits import Env
from penstock.expression.paths import Run
from penstock.expression.values import NUMBERS, spoken

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


def every(terms: Sequence[Run], places: Sequence[SourcePosition]) -> Run:
    """`a && b …`: false where any term is, even if another fails."""
    return _decided_by(False, "&&", terms, places)


def some(terms: Sequence[Run], places: Sequence[SourcePosition]) -> Run:
    """`a || b …`: true where any term is, even if another fails."""
    return _decided_by(True, "||", terms, places)


def _decided_by(answer: bool, sign: str, terms: Sequence[Run], places: Sequence[SourcePosition]) -> Run:
    """One term that has the answer decides; faults of the others matter only where none has it."""
    pairs, otherwise = tuple(zip(terms, places, strict=True)), not answer

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
        if value is True:
            return False
        if value is False:
            return True
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
