"""What the checker calls right never fails for a type; what it calls an error always fails."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from tests.expression.static_types.generating import Schemas, Writer, conforms

from penstock.expression import ExpressionError, compile_expression
from penstock.expression.errors import Fault
from penstock.expression.types.checking import Checked, check_expression
from penstock.expression.types.json_schema import read_schema

TYPE_FAULTS = frozenset({"no_such_key", "no_such_overload", "unknown_name", "not_bool"})
VALUES, EXPRESSIONS = 4, 12


class Case(NamedTuple):
    """An expression over data of a schema, what the checker says, and data that fits."""

    schema: dict[str, Any]
    source: str
    checked: Checked
    values: list[Any]


def cases(seed: int, care: float, straight: bool = False) -> Iterator[Case]:
    random = Random(seed)
    schemas = Schemas(random)
    schema = schemas.root()
    found = read_schema(schema).type
    fits = jsonschema_rs.validator_for(schema).is_valid
    values = [each for each in (schemas.value(schema) for _ in range(VALUES * 2)) if fits(each)][:VALUES]
    assert all(conforms(value, found) for value in values), (seed, schema, values)
    writer = Writer(random, {"data": found}, care, straight)
    for _ in range(EXPRESSIONS):
        source = writer.expression()
        yield Case(schema, source, check_expression(source, {"data": found}), values)


def outcomes(case: Case) -> Iterator[tuple[Any, Any]]:
    """Each value of the data, and the value or the fault of the expression."""
    try:
        expression = compile_expression(case.source, ("data",))
    except ExpressionError as error:
        yield from ((data, Fault(error.code, error.message)) for data in case.values)
        return
    for data in case.values:
        try:
            yield data, expression._run(expression.env({"data": data}))
        except Fault as fault:
            yield data, fault


def goes_wrong(case: Case, value: Any) -> bool:
    """Whether a case without problems fails for a type, or gives a value of another type."""
    if isinstance(value, Fault):
        return value.code in TYPE_FAULTS
    return not conforms(value, case.checked.type)


def find_unsound(first: int, wanted: int) -> list[Any]:
    """The cases among `wanted` without problems that go wrong."""
    clean, unsound, seed = 0, [], first
    while clean < wanted:
        for case in cases(seed, care=0.97):
            if not case.checked.problems:
                clean += 1
                wrong = [(data, value) for data, value in outcomes(case) if goes_wrong(case, value)]
                unsound += [(seed, case.source, *wrong[0])] if wrong else []
        seed += 1
    return unsound


def test_an_expression_without_problems_never_fails_for_a_type() -> None:
    assert find_unsound(0, 500) == []


@pytest.mark.long("test_an_expression_without_problems_never_fails_for_a_type")
def test_thousands_of_expressions_without_problems_never_fail_for_a_type() -> None:
    assert find_unsound(1_000_000, 25_000) == []


def find_errors(seeds: range) -> tuple[int, list[Any]]:
    """How many errors were reported where everything is evaluated, and those that did not come true."""
    errors, untrue = 0, []
    for seed in seeds:
        for case in cases(seed, care=0.85, straight=True):
            if any(problem.severity == "error" for problem in case.checked.problems):
                for data, value in outcomes(case):
                    errors += 1
                    if not isinstance(value, Fault):
                        untrue.append((seed, case.source, data, case.checked.problems))
    return errors, untrue


def test_an_error_is_never_wrong() -> None:
    errors, untrue = find_errors(range(100))

    assert untrue == []
    assert errors > 300


@pytest.mark.long("test_an_error_is_never_wrong")
def test_thousands_of_errors_are_never_wrong() -> None:
    errors, untrue = find_errors(range(10_000, 13_000))

    assert untrue == []
    assert errors > 9_000


def test_most_of_the_random_expressions_have_no_problem_and_many_kinds_of_problems_occur() -> None:
    found = [case.checked.problems for seed in range(20) for case in cases(seed, care=0.97)]
    careless = [case.checked.problems for seed in range(20) for case in cases(seed, care=0.8)]

    assert sum(not problems for problems in found) / len(found) > 0.4
    assert len({problem.variant for problems in careless for problem in problems}) > 12
