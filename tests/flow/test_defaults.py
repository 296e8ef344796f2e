"""The defaults of `params` fill in for what an input does not say."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.flow.values.defaults import TooManyDefaults, has_defaults, with_defaults


def with_properties(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


N = {"type": "integer", "default": 3}
OPTIONS = with_properties(n=N)
NODE = {"$defs": {"node": with_properties(next={"$ref": "#/$defs/node"}, n=N)}, "$ref": "#/$defs/node"}


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        (with_properties(n=N), {}, {"n": 3}),
        (with_properties(n=N), {"n": 1, "m": 2}, {"n": 1, "m": 2}),
        (with_properties(n=N), {"n": None}, {"n": None}),
        (with_properties(n=N), [1], [1]),
        (with_properties(n={"default": None}), {}, {"n": None}),
        (with_properties(options=OPTIONS), {}, {}),
        (with_properties(options=OPTIONS), {"options": {}}, {"options": {"n": 3}}),
        (with_properties(options={**OPTIONS, "default": {}}), {}, {"options": {"n": 3}}),
        (with_properties(options={**OPTIONS, "default": {"n": 4}}), {}, {"options": {"n": 4}}),
        ({"type": "array", "items": OPTIONS}, [{}, {"n": 1}, 5], [{"n": 3}, {"n": 1}, 5]),
        ({"prefixItems": [OPTIONS], "items": with_properties(m=N)}, [{}, {}], [{"n": 3}, {"m": 3}]),
        ({"additionalProperties": OPTIONS}, {"a": {}}, {"a": {"n": 3}}),
        ({"allOf": [with_properties(n=N), with_properties(m=N)]}, {}, {"n": 3, "m": 3}),
        (NODE, {"next": {"next": {}}}, {"next": {"next": {"n": 3}, "n": 3}, "n": 3}),
        ({**with_properties(n={"$ref": "#/$defs/n"}), "$defs": {"n": N}}, {}, {"n": 3}),
        ({"anyOf": [with_properties(n=N)]}, {}, {}),
        ({"if": {}, "then": with_properties(n=N)}, {}, {}),
        ({"$ref": "#/nowhere"}, {}, {}),
        (True, {}, {}),
    ],
)
def test_what_is_absent_has_the_default_of_its_schema(schema: Any, value: Any, filled: Any) -> None:
    assert with_defaults(schema, value) == filled


def test_the_value_and_the_schema_stay_as_they_are() -> None:
    schema, value = with_properties(a={"default": {"b": []}}), dict[str, Any]()

    with_defaults(schema, value)["a"]["b"].append(1)

    assert (schema, value) == (with_properties(a={"default": {"b": []}}), {})


def test_whether_a_schema_has_defaults() -> None:
    assert (has_defaults(NODE), has_defaults(with_properties(n={"type": "integer"}))) == (True, False)


@pytest.mark.parametrize(
    "schema",
    [
        with_properties(a={"$ref": "#", "default": {}}),
        with_properties(a={"$ref": "#", "default": {}}, b={"$ref": "#", "default": {}}),
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
    ],
)
def test_defaults_without_end_are_told(schema: Any) -> None:
    with pytest.raises(TooManyDefaults):
        with_defaults(schema, {})
