"""Whether a value of one type can be given where another is asked for."""

from __future__ import annotations

import json
from random import Random

import jsonschema_rs
import pytest
from tests.expression.static_types.generating import Schemas, conforms
from tests.expression.static_types.scopes import INTEGER, NUMBER, TEXT, closed

from penstock.expression.types.fitting import Fit, fits
from penstock.expression.types.json_schema import read_schema
from penstock.expression.types.types import DYN, NEVER, Type, as_json, name_of, type_of_value

PERSON = closed(["name"], name=TEXT, age=INTEGER)
OPEN = {"type": "object", "properties": {"name": TEXT}}
PEOPLE = {"type": "array", "items": PERSON}
NULLABLE = {"type": ["string", "null"]}
MODE = {"enum": ["fast", "slow"]}
MAP = {"type": "object", "additionalProperties": INTEGER}


def type_of(schema: object) -> Type:
    return read_schema(schema).type


@pytest.mark.parametrize(
    ("found", "expected", "verdict", "why", "path"),
    [
        (TEXT, TEXT, "yes", "", ""),
        (TEXT, {}, "yes", "", ""),
        ({}, TEXT, "yes", "", ""),
        (INTEGER, NUMBER, "yes", "", ""),
        (NUMBER, INTEGER, "may not", "type", ""),
        (INTEGER, TEXT, "never", "type", ""),
        (TEXT, NULLABLE, "yes", "", ""),
        (NULLABLE, TEXT, "may not", "type", ""),
        (NULLABLE, INTEGER, "never", "type", ""),
        (MODE, TEXT, "yes", "", ""),
        (TEXT, MODE, "may not", "type", ""),
        ({"enum": ["fast", "other"]}, MODE, "may not", "type", ""),
        ({"const": "other"}, MODE, "never", "type", ""),
        ({"const": 2}, {"enum": [1, 2]}, "yes", "", ""),
        ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT}, "yes", "", ""),
        ({"type": "array", "items": INTEGER}, {"type": "array", "items": TEXT}, "may not", "type", "[]"),
        (
            PEOPLE,
            {"type": "array", "items": closed(["name"], name=INTEGER, age=INTEGER)},
            "may not",
            "type",
            "[].name",
        ),
        (PERSON, OPEN, "yes", "", ""),
        (OPEN, PERSON, "may not", "optional", "name"),
        (closed([], age=INTEGER), PERSON, "never", "missing", "name"),
        (closed([], name=TEXT), PERSON, "may not", "optional", "name"),
        (closed(["name", "nmae"], name=TEXT, nmae=TEXT), PERSON, "never", "unexpected", "nmae"),
        (closed(["name"], name=TEXT, nmae=TEXT), PERSON, "may not", "unexpected", "nmae"),
        (closed(["name", "age"], name=TEXT, age=TEXT), PERSON, "never", "type", "age"),
        (closed(["name"], name=TEXT, age=TEXT), PERSON, "may not", "type", "age"),
        (
            closed(["a"], a=PERSON),
            closed(["a"], a=closed(["name"], name=INTEGER, age=INTEGER)),
            "never",
            "type",
            "a.name",
        ),
        (closed(["a b"], **{"a b": TEXT}), closed(["a b"], **{"a b": INTEGER}), "never", "type", '["a b"]'),
        ({"type": "object"}, PERSON, "yes", "", ""),
        (MAP, MAP, "yes", "", ""),
        (MAP, {"type": "object", "additionalProperties": TEXT}, "may not", "type", "[]"),
        (TEXT, PERSON, "never", "type", ""),
        (PERSON, TEXT, "never", "type", ""),
        (False, TEXT, "yes", "", ""),
    ],
)
def test_a_type_fits_may_not_fit_or_never_fits(
    found: object, expected: object, verdict: str, why: str, path: str
) -> None:
    fit = fits(type_of(found), type_of(expected))

    assert (fit.verdict, fit.why, fit.path) == (verdict, why, path)


def test_a_fit_names_both_types_at_the_place() -> None:
    fit = fits(type_of_value({"name": "x", "age": "3"}), type_of(PERSON))

    assert (fit.path, name_of(fit.found), name_of(fit.expected)) == ("age", '"3"', "int")
    assert fits(type_of_value({}), type_of(PERSON)) == Fit("never", "missing", "name", NEVER, type_of(TEXT))
    assert fits(DYN, type_of(PERSON)) == Fit("yes")


def check_random_pairs(seeds: range) -> tuple[int, list[object]]:
    """How many pairs of random schemas had a clear verdict, and those whose values say something else."""
    clear, wrong = 0, list[object]()
    for seed in seeds:
        random = Random(seed)
        schemas = Schemas(random)
        one = schemas.root()
        values = [schemas.value(one) for _ in range(4)]
        other = schemas.root() if random.random() < 0.3 else {**schemas.any(2), "$defs": one["$defs"]}
        path = random.choice([*one["properties"], None])
        source = one if path is None else {**one["properties"][path], "$defs": one["$defs"]}
        given = [value if path is None else value[path] for value in values if path is None or path in value]
        is_of, is_for = (jsonschema_rs.validator_for(each).is_valid for each in (source, other))
        # What fields other than the declared ones hold is unknown: it always fits.
        given = [value for value in given if is_of(value) and '"other"' not in json.dumps(value)]
        found, expected = type_of(source), type_of(other)
        verdict = fits(found, expected).verdict
        clear += verdict != "may not" and bool(given)
        if verdict == "yes":
            wrong += [(seed, value) for value in given if not conforms(value, expected)]
        if verdict == "never":
            wrong += [(seed, value) for value in given if is_for(value)]
    return clear, wrong


def test_the_verdict_is_that_of_the_values() -> None:
    clear, wrong = check_random_pairs(range(600))

    assert wrong == []
    assert clear > 200


@pytest.mark.long("test_the_verdict_is_that_of_the_values")
def test_thousands_of_verdicts_are_those_of_the_values() -> None:
    clear, wrong = check_random_pairs(range(100_000, 120_000))

    assert wrong == []
    assert clear > 6_000


def test_every_type_fits_itself_as_json() -> None:
    for seed in range(200):
        found = type_of(Schemas(Random(seed)).root())

        assert fits(as_json(found), found).verdict == "yes", seed
