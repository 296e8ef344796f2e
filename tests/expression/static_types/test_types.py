"""Types as sets of values: union, intersection, names, and what remains of them as JSON."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.expression.static_types.generating import Schemas, conforms

from penstock.expression.types.json_schema import read_schema
from penstock.expression.types.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST,
    MAP,
    MAX_VALUES,
    MAX_VARIANTS,
    NEVER,
    NULL,
    NUMBER,
    STRING,
    TIMESTAMP,
    UINT,
    Field,
    List,
    Map,
    Object,
    Type,
    Union,
    as_json,
    known,
    list_of,
    meet,
    members_of,
    name_of,
    type_of_value,
    union,
    weight_of,
)

A, AB = known("string", ["a"]), known("string", ["a", "b"])


def variants(count: int) -> list[Object]:
    return [Object({f"k{n}": Field(INT)}) for n in range(count)]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([], NEVER),
        ([INT], INT),
        ([INT, NEVER, INT], INT),
        ([INT, DOUBLE], NUMBER),
        ([DOUBLE, INT], NUMBER),
        ([INT, DYN, STRING], DYN),
        ([A, known("string", ["b"])], AB),
        ([A, STRING], STRING),
        ([known("int", [1]), known("bool", [True])], Union((known("bool", [True]), known("int", [1])))),
        ([List(INT), List(DOUBLE)], List(NUMBER)),
        ([Map(INT, A), Map(UINT, STRING)], Map(union((INT, UINT)), STRING)),
        ([Union((INT, NULL)), STRING], Union((INT, NULL, STRING))),
        (variants(2) + variants(2), Union(tuple(variants(2)))),
    ],
)
def test_a_union_holds_each_kind_once(types: list[Type], expected: Type) -> None:
    assert union(types) == expected


def test_a_union_is_bounded() -> None:
    wide = union(variants(MAX_VARIANTS + 1))
    common = [Object({"a": Field(INT), **each.fields}) for each in variants(MAX_VARIANTS)]
    common.append(Object({"a": Field(STRING, False)}))

    merged = union(common)
    assert isinstance(wide, Object) and isinstance(merged, Object)
    assert {field.required for field in wide.fields.values()} == {False}
    assert merged.field("a") == Field(union((INT, STRING)), False)
    assert merged.field("k1") == Field(INT, False)
    assert union(known("int", [n]) for n in range(MAX_VALUES + 1)) == INT
    assert len(members_of(union(variants(1_000)))) <= MAX_VARIANTS


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (INT, DYN, INT),
        (DYN, DYN, DYN),
        (INT, STRING, NEVER),
        (NUMBER, INT, INT),
        (AB, A, A),
        (A, known("string", ["b"]), NEVER),
        (List(NUMBER), List(INT), List(INT)),
        (MAP, Object({"a": Field(INT)}), Object({"a": Field(INT)})),
        (
            Object({"a": Field(NUMBER, False)}, DYN),
            Object({"a": Field(DYN)}, DYN),
            Object({"a": Field(NUMBER)}, DYN),
        ),
        (Object({"a": Field(INT)}), Object({"a": Field(STRING)}), NEVER),
        (Object({}), Object({"a": Field(STRING)}, DYN), NEVER),
    ],
)
def test_an_intersection_keeps_what_both_hold(one: Type, other: Type, expected: Type) -> None:
    assert meet(one, other) == expected
    assert meet(other, one) == expected


def test_unions_hold_the_values_of_either_and_intersections_those_of_both() -> None:
    for seed in range(300):
        schemas = Schemas(Random(seed))
        pairs: list[tuple[Type, list[Any]]] = []
        for _ in range(2):
            schema = schemas.root()
            found = read_schema(schema).type
            values = [schemas.value(schema) for _ in range(4)]
            pairs.append((found, [value for value in values if conforms(value, found)]))
        (one, ones), (other, others) = pairs

        assert all(conforms(value, union((one, other))) for value in (*ones, *others)), seed
        shared = [value for value in (*ones, *others) if conforms(value, one) and conforms(value, other)]
        assert all(conforms(value, meet(one, other)) for value in shared), seed


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (DYN, "any value"),
        (NEVER, "nothing"),
        (INT, "int"),
        (NUMBER, "number"),
        (union((NUMBER, NULL)), "number or null"),
        (AB, '"a" or "b"'),
        (known("string", "abcdef"), "string"),
        (LIST, "list"),
        (List(NEVER), "list"),
        (List(INT), "list of int"),
        (MAP, "map"),
        (Object({}, STRING), "map of string"),
        (Map(INT, STRING), "map of string"),
        (Object({}), "empty object"),
        (Object({"id": Field(INT), "name": Field(STRING, False)}), "object with `id`, `name`"),
        (Object({each: Field(INT) for each in "abcdefg"}), "object with `a`, `b`, `c`, `d`, `e`, …"),
        (TIMESTAMP, "timestamp"),
    ],
)
def test_a_type_has_a_short_name(found: Type, name: str) -> None:
    assert name_of(found) == name


@pytest.mark.parametrize(
    ("found", "plain"),
    [
        (INT, INT),
        (UINT, INT),
        (TIMESTAMP, STRING),
        (union((DURATION, NULL)), union((STRING, NULL))),
        (List(BYTES), List(STRING)),
        (Map(INT, TIMESTAMP), Object({}, STRING)),
        (Object({"a": Field(TIMESTAMP, False)}), Object({"a": Field(STRING, False)})),
        (NEVER, NEVER),
        (DYN, DYN),
    ],
)
def test_a_result_is_plain_json(found: Type, plain: Type) -> None:
    assert as_json(found) == plain


def test_a_value_has_the_narrowest_type() -> None:
    value = {"a": [1, "x", None], "b": 1.5, "c": True}

    assert type_of_value(value) == Object(
        {
            "a": Field(list_of((known("int", [1]), known("string", ["x"]), NULL))),
            "b": Field(DOUBLE),
            "c": Field(known("bool", [True])),
        }
    )
    assert conforms(value, type_of_value(value))
    assert not conforms({**value, "c": False}, type_of_value(value))


def test_the_first_items_of_a_list_may_have_types_of_their_own() -> None:
    pair = list_of((STRING, INT))

    assert [pair.at(0), pair.at(1), pair.at(2)] == [STRING, INT, union((STRING, INT))]
    assert union((pair, List(STRING))) == List(pair.item, (STRING, pair.item))
    assert meet(pair, List(STRING)) == List(STRING, (STRING, NEVER))


def test_the_weight_counts_all_parts() -> None:
    assert weight_of(Object({"a": Field(List(INT)), "b": Field(BOOL)}, STRING)) == 5
