"""The types of the API for the web pages: the schemas of the description, as TypeScript."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.api.call import Call
from penstock.api.openapi import describe

HEAD = """\
/**
 * The shapes of bodies and answers, made from the description of the API: `make reference` writes this file.
 */

export interface components {
  schemas: {
"""
TAIL = "  }\n}\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
Schema = Mapping[str, Any]


def types_text(calls: Sequence[Call]) -> str:
    """The file `web/src/api/schema.d.ts`."""
    schemas: dict[str, Schema] = describe(calls, "")["components"]["schemas"]
    return HEAD + "".join(_declared(name, schemas[name]) for name in sorted(schemas)) + TAIL


def _declared(name: str, schema: Schema) -> str:
    said = " ".join(str(schema.get("description", "")).split()).replace("*/", "* /")
    doc = f"    /** {said} */\n" if said else ""
    return f"{doc}    {_key(name)}: {_type(schema, 4)}\n"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _type(schema: Schema, indent: int) -> str:
    """A schema as a type; what it says of lengths and limits has no words there."""
    if "$ref" in schema:
        return f"components['schemas'][{_quoted(schema['$ref'].rpartition('/')[2])}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each, indent) for each in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(
            _quoted(each) if isinstance(each, str) else json.dumps(each) for each in schema["enum"]
        )
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": each}, indent) for each in kind)
    if kind == "array":
        return f"{_grouped(_type(schema.get('items', {}), indent))}[]"
    if kind == "object":
        return _object(schema, indent)
    return PLAIN.get(str(kind), "unknown")


def _object(schema: Schema, indent: int) -> str:
    if schema.get("properties"):
        lines = "".join(_fields(schema["properties"], indent + 2))
        return f"{{\n{lines}{' ' * indent}}}"
    more = schema.get("additionalProperties", {})
    return f"Record<string, {_type(more, indent) if isinstance(more, Mapping) else 'unknown'}>"


def _fields(properties: Mapping[str, Schema], indent: int) -> Iterator[str]:
    """What has a default is always there in an answer, so no field is optional."""
    for name, schema in properties.items():
        yield f"{' ' * indent}{_key(name)}: {_type(schema, indent)}\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _grouped(kind: str) -> str:
    return f"({kind})" if " | " in kind else kind
