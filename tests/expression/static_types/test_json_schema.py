"""What a JSON Schema means as a type, and what a hostile one costs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from penstock.expression.types.json_schema import MAX_PARTS, SchemaType, read_schema
from penstock.expression.types.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    LIST,
    MAP,
    NEVER,
    NULL,
    NUMBER,
    STRING,
    Field,
    List,
    Object,
    Type,
    known,
    union,
    weight_of,
)

TEXT = {"type": "string"}


def closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, DYN),
        (True, DYN),
        (False, NEVER),
        (None, DYN),
        ("nonsense", DYN),
        ({"type": "nonsense"}, DYN),
        ({"type": 5}, DYN),
        (TEXT, STRING),
        ({"type": "string", "format": "date-time"}, STRING),
        ({"type": "integer", "minimum": 3}, INT),
        ({"type": "number"}, NUMBER),
        ({"type": "boolean"}, BOOL),
        ({"type": ["string", "null"]}, union((STRING, NULL))),
        ({"type": "string", "nullable": True}, union((STRING, NULL))),
        ({"enum": ["a", "b", None]}, union((known("string", ["a", "b"]), NULL))),
        ({"const": 3}, known("int", [3])),
        ({"const": 3.0}, NUMBER),
        ({"enum": [1.5, [1], {"a": 1}]}, union((DOUBLE, LIST, MAP))),
        ({"type": "string", "enum": ["a", 1]}, known("string", ["a"])),
        ({"type": "array"}, LIST),
        ({"items": TEXT}, List(STRING)),
        (
            {"type": "array", "prefixItems": [TEXT], "items": {"type": "integer"}},
            List(union((STRING, INT)), (STRING,)),
        ),
        ({"type": "array", "prefixItems": [TEXT], "items": False}, List(STRING, (STRING,))),
        ({"type": "array", "items": [TEXT], "additionalItems": False}, List(STRING, (STRING,))),
        ({"type": "array", "prefixItems": [TEXT]}, List(DYN, (STRING,))),
        ({"type": "object"}, MAP),
        ({"type": "object", "additionalProperties": TEXT}, Object({}, STRING)),
        ({"type": "object", "additionalProperties": False}, Object({})),
        ({"properties": {"a": TEXT}}, Object({"a": Field(STRING, False)}, DYN, declared=True)),
        (closed({"a": TEXT, "b": {}}, ["a"]), Object({"a": Field(STRING), "b": Field(DYN, False)})),
        ({"required": ["a"]}, Object({"a": Field(DYN)}, DYN)),
        (
            {"type": "object", "patternProperties": {"^x": TEXT}, "additionalProperties": False},
            Object({}, STRING),
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "description": " Who. "}}},
            Object({"a": Field(STRING, False, "Who.")}, DYN, declared=True),
        ),
        (closed({"a": False}, ["a"]), NEVER),
        ({"anyOf": [TEXT, {"type": "null"}]}, union((STRING, NULL))),
        ({"oneOf": [TEXT, {"type": "integer"}], "type": "string"}, STRING),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, INT),
        (
            {"allOf": [closed({"a": TEXT, "b": TEXT}, []), {"required": ["b"]}]},
            Object({"a": Field(STRING, False), "b": Field(STRING)}),
        ),
        (
            {**closed({"a": TEXT}, []), "if": {"required": ["a"]}, "then": {"required": ["a"]}, "else": True},
            Object({"a": Field(STRING, False)}),
        ),
        (
            {
                **closed({"a": TEXT}, []),
                "if": {"required": ["a"]},
                "then": {"required": ["a"]},
                "else": {"required": []},
            },
            union((Object({"a": Field(STRING)}), Object({"a": Field(STRING, False)}))),
        ),
        ({"type": "string", "not": {"const": "a"}}, STRING),
        ({"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, STRING),
        ({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": TEXT}}, STRING),
        ({"$ref": "#/anyOf/1", "anyOf": [{"type": "integer"}, TEXT]}, STRING),
    ],
)
def test_a_schema_is_a_type(schema: Any, expected: Type) -> None:
    assert read_schema(schema) == SchemaType(expected)


def test_a_schema_that_refers_to_itself_is_dyn_within() -> None:
    tree = closed({"name": TEXT, "below": {"type": "array", "items": {"$ref": "#"}}}, ["name"])

    found = read_schema(
        {
            "$ref": "#/$defs/tree",
            "$defs": {
                "tree": {
                    **tree,
                    "properties": {
                        "name": TEXT,
                        "below": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                    },
                }
            },
        }
    )

    assert found == SchemaType(Object({"name": Field(STRING), "below": Field(LIST, False)}), ("recursive",))


@pytest.mark.parametrize("reference", ["#/nowhere", "https://example.org/a", "#a", "#/$defs/0/1", "##"])
def test_a_reference_to_nowhere_is_dyn(reference: str) -> None:
    assert read_schema({"$ref": reference, "$defs": ["x"]}) == SchemaType(DYN, ("unresolved",))


def doubled() -> dict[str, Any]:
    """Each part refers to the next one twice."""
    parts: dict[str, Any] = {
        f"d{n}": closed({key: {"$ref": f"#/$defs/d{n + 1}"} for key in "ab"}, []) for n in range(60)
    }
    return {"$defs": {**parts, "d60": TEXT}, "$ref": "#/$defs/d0"}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def nested_ways(width: int, depth: int, tag: str) -> dict[str, Any]:
    """Objects of several ways, in each of which a field has as many again."""
    if depth == 0:
        return TEXT
    inner = nested_ways(width, depth - 1, tag)
    return {"anyOf": [closed({"f": inner, f"{tag}{n}": TEXT}, ["f"]) for n in range(width)]}


MANY = range(10_000)
WAYS = {"anyOf": [closed({f"k{n}_{m}": TEXT for m in range(20)}, []) for n in range(9)]}


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [closed({f"k{n}": TEXT}, []) for n in MANY]},
        {"anyOf": [{"anyOf": [closed({f"k{n}{m}": TEXT}, []) for m in range(60)]} for n in range(60)]},
        {"allOf": [WAYS] * 500},
        {"allOf": [{"$ref": "#/$defs/a"}] * 10_000, "$defs": {"a": WAYS}},
        {"type": "object", "properties": {f"k{n}": TEXT for n in MANY}},
        {"type": "object", "required": [f"k{n}" for n in MANY], "properties": {"a": TEXT}},
        {"type": "object", "patternProperties": {f"k{n}": closed({f"k{n}": TEXT}, []) for n in MANY}},
        {"enum": [{"k": n} for n in MANY]},
        {"enum": [nested(300)] * 300},
        {"type": ["string", "object"] * 5_000, "properties": {"a": TEXT}},
        {"type": "array", "prefixItems": [closed({f"k{n}": TEXT}, []) for n in MANY]},
        {"allOf": [nested_ways(2, 6, tag) for tag in "abcdefgh"]},
        {"allOf": [nested_ways(3, 3, tag) for tag in "abcdefgh"]},
        doubled(),
        nested(500),
    ],
    ids=range(16),
)
def test_a_hostile_schema_is_cut_off(schema: Any) -> None:
    started = time.process_time()
    found = read_schema(schema)

    assert time.process_time() - started < 0.5
    assert found.cut or found.type is DYN or weight_of(found.type) < MAX_PARTS
    assert weight_of(found.type) <= 2 * MAX_PARTS
