"""A scope that the tests of types share."""

from __future__ import annotations

from typing import Any

from penstock.expression.types.json_schema import read_schema
from penstock.expression.types.types import TIMESTAMP, Type


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    """The schema of an object without other fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
USER = closed(["name"], name=TEXT, mail=TEXT)
DATA = closed(
    ["id", "price", "tags", "user", "users", "mode", "shape", "headers", "files"],
    id=TEXT,
    price=NUMBER,
    count=INTEGER,
    tags={"type": "array", "items": TEXT},
    user={"anyOf": [USER, {"type": "null"}]},
    users={
        "type": "array",
        "prefixItems": [USER],
        "items": {"anyOf": [USER, {"type": "null"}]},
    },
    mode={"enum": ["fast", "slow"]},
    shape={
        "oneOf": [
            closed(["kind", "radius"], kind={"const": "circle"}, radius=INTEGER),
            closed(["kind", "width"], kind={"const": "box"}, width=INTEGER, label=TEXT),
        ]
    },
    headers={"type": "object", "additionalProperties": TEXT},
    files={
        "type": "array",
        "items": closed(["name", "size"], **{"name": TEXT, "size": INTEGER, "has size": {"type": "boolean"}}),
    },
    any={},
)
OPEN = {"type": "object", "properties": {"key": TEXT, "size": INTEGER}, "required": ["key"]}
SCOPE: dict[str, Type] = {
    "data": read_schema(DATA).type,
    "object": read_schema(OPEN).type,
    "now": TIMESTAMP,
}
