"""A schema that would be tried without end is refused before anything is tried with it."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from penstock.flow.format.definition_parser import from_plain
from penstock.flow.model.problems import DefinitionError
from penstock.flow.values.schema_validation import is_too_costly, validator_of
from penstock.steps import approval


def ladder(steps: int, key: str = "anyOf") -> dict[str, Any]:
    """Each part tries the next one twice."""
    parts: dict[str, Any] = {f"x{n}": {key: [{"$ref": f"#/$defs/x{n + 1}"}] * 2} for n in range(steps)}
    return {"$defs": {**parts, f"x{steps}": {"type": "string"}}, "$ref": "#/$defs/x0"}


def inside(*schemas: dict[str, Any]) -> dict[str, Any]:
    """A part that tries several, each of which leads back to it one level below."""
    return {"$defs": {"x": {"anyOf": list(schemas)}}, "$ref": "#/$defs/x"}


SELF = {"$ref": "#/$defs/x"}
ENDLESS = {
    "a ladder": ladder(60),
    "of allOf": ladder(60, "allOf"),
    "items twice": inside({"items": SELF, "minItems": 5}, {"items": SELF, "maxItems": 0}),
    "a name twice": inside({"properties": {"a": SELF}}, {"properties": {"a": SELF}, "required": ["b"]}),
    "a name and the others": inside(
        {"properties": {"a": SELF}, "required": ["b"]}, {"additionalProperties": SELF}
    ),
    "patterns": inside({"patternProperties": {"a": SELF, "^a": SELF}}),
    "not and if": {"$defs": {"x": {"not": {"items": SELF}, "if": {"items": SELF}}}, "$ref": "#/$defs/x"},
    "itself at once": {"allOf": [{"$ref": "#"}]},
    "by anchors": {"$anchor": "top", "anyOf": [{"items": {"$ref": "#top"}}, {"items": {"$ref": "#top"}}]},
    "dynamic": {"$dynamicAnchor": "n", "anyOf": [{"items": {"$dynamicRef": "#n"}}] * 2},
    "a long chain": {
        "$defs": {f"x{n}": {"$ref": f"#/$defs/x{n + 1}"} for n in range(9_000)} | {"x9000": {}},
        "$ref": "#/$defs/x0",
    },
    "much to look at": {
        "$defs": {
            f"x{n}": {"allOf": [{"$ref": f"#/$defs/x{m}"} for m in range(n + 1, 400)]} for n in range(400)
        },
        "$ref": "#/$defs/x0",
    },
}
USUAL = {
    "nothing": {},
    "all": True,
    "a tree": {
        "properties": {"value": {"type": "integer"}, "below": {"type": "array", "items": {"$ref": "#"}}}
    },
    "any JSON": {
        "anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]
    },
    "kinds of nodes": inside(
        {"properties": {"op": {"const": "add"}, "left": SELF, "right": SELF}},
        {"properties": {"op": {"const": "not"}, "of": SELF}},
        {"type": "number"},
    ),
    "many parts": {
        "$defs": {f"x{n}": {"type": "string"} for n in range(500)},
        "properties": {f"x{n}": {"$ref": f"#/$defs/x{n}"} for n in range(500)},
    },
    "no reference": {"anyOf": [{"anyOf": [{"type": "string"}] * 20}] * 20},
    "a few steps": ladder(8),
}


@pytest.mark.parametrize("schema", ENDLESS.values(), ids=ENDLESS)
def test_a_schema_without_end_is_refused_at_once(schema: Any) -> None:
    began = process_time()

    assert is_too_costly(schema)
    with pytest.raises(ValueError, match="without end"):
        validator_of(schema)
    assert process_time() - began < 2


@pytest.mark.parametrize("schema", USUAL.values(), ids=USUAL)
def test_a_usual_schema_is_taken(schema: Any) -> None:
    assert not is_too_costly(schema)
    assert isinstance(validator_of(schema)({"a": [1]}), list)


def test_it_is_told_where_it_stands_in_a_definition() -> None:
    with pytest.raises(DefinitionError) as caught:
        from_plain({"penstock": 1, "name": "w", "params": ladder(30), "steps": {"a": {"task": "one"}}})

    [problem] = caught.value.problems
    assert (problem.code, problem.path) == ("bad_schema", "params")
    assert "without end" in problem.message


def test_a_form_for_people_is_held_to_it_too() -> None:
    assert "without end" in (approval._no_schema({"type": "object", **ladder(30)}) or "")
