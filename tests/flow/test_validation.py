"""A value that does not fit is told so at once, however large it is and however much of it is wrong."""

from __future__ import annotations

import resource
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.values.schema_validation import MAX_SENTENCE, TOO_LONG, pointer_of, violations

WORDS = [f"word{n}" for n in range(2_000)]


def test_all_that_is_wrong_with_a_small_value_is_told() -> None:
    schema = {"type": "array", "items": {"enum": ["a", "b"]}}

    assert violations(schema, ["a", 1, "c"]) == [
        '[1]: 1 is not one of "a" or "b"',
        '[2]: "c" is not one of "a" or "b"',
    ]


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_the_place_of_what_is_wrong_can_be_read_back_whatever_it_is_called(names: list[str]) -> None:
    value: Any = 1
    schema: Any = {"type": "string"}
    for name in reversed(names):
        value, schema = {name: [value]}, {"properties": {name: {"items": schema}}}

    [sentence] = violations(schema, value)

    escaped = (name.replace("~", "~0").replace("/", "~1") for name in names)
    assert pointer_of(sentence) == "".join(f"/{name}/0" for name in escaped)


def test_a_sentence_without_a_place_points_at_all_of_it() -> None:
    [sentence] = violations({"required": ["a: b"]}, {})

    assert (sentence, pointer_of(sentence)) == ('"a: b" is a required property', "")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": WORDS}}, [1] * 120_000),
        ({"items": {"anyOf": [{"const": word} for word in WORDS]}}, [1] * 20_000),
        ({"items": {"allOf": [{"type": "string"}] * 2_000}}, [1] * 5_000),
        ({"items": {"type": "string"}}, [1] * 120_000),
        ({"additionalProperties": {"type": "string"}}, {f"k{n}": 1 for n in range(10_000)}),
        ({"allOf": [{"type": "string"}] * 2_000}, ["x" * 200_000]),
    ],
)
def test_a_large_value_that_is_wrong_everywhere_holds_nobody_up(schema: Any, value: Any) -> None:
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()

    found = violations(schema, value)

    assert process_time() - began < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert len(found) == 1
    assert len(found[0]) < MAX_SENTENCE + 100


LAST = {"anyOf": [{"const": number} for number in range(5_000)]}


@pytest.mark.parametrize(
    "schema",
    [
        {"items": LAST},
        {"items": {"$ref": "#/$defs/one"}, "$defs": {"one": {"anyOf": LAST["anyOf"][-300:]}}},
        {"allOf": [{"contains": {"const": number}} for number in range(500)], "unevaluatedItems": True},
    ],
    ids=["ways", "a reference to ways", "lists"],
)
def test_a_large_value_and_a_schema_of_many_ways_hold_nobody_up(schema: Any) -> None:
    began = process_time()

    found = violations(schema, [4_999] * 30_000)

    assert (found, process_time() - began < 1) == ([TOO_LONG], True)


def test_a_small_value_is_held_against_many_ways_and_a_large_one_against_few() -> None:
    assert violations({"items": LAST}, [4_999] * 10) == []
    assert violations({"items": {"anyOf": LAST["anyOf"][-10:]}}, [4_999] * 100_000) == []
