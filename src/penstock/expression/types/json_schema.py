"""From a JSON Schema to a type; a hostile one costs no more than an honest one, and what is cut off becomes dyn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from penstock.expression.types.types import (
    BOOL,
    DYN,
    INT,
    LIST,
    MAP,
    MAX_PLACES,
    NEVER,
    NULL,
    NUMBER,
    STRING,
    Field,
    List,
    Object,
    Type,
    meet,
    type_of_value,
    union,
    weight_of,
)

MAX_PARTS, MAX_DEPTH, MAX_WAYS = 2_000, 40, 64
"""How many parts of a schema are read (a part that two others refer to counts twice), how deep, and how many ways of
`anyOf`."""

_SIMPLE: Final = {"string": STRING, "integer": INT, "number": NUMBER, "boolean": BOOL, "null": NULL}
_OBJECT_WORDS: Final = frozenset({"properties", "required", "additionalProperties", "patternProperties"})
_LIST_WORDS: Final = frozenset({"items", "prefixItems"})
_DOC, _PAIRS = 200, 500
"""Characters of a description, and pairs of parts that may be compared at the cost of reading one."""


class SchemaType(msgspec.Struct, frozen=True):
    """The type that a schema describes; `cut` says why parts of it became dyn: `recursive`, `large`, `unresolved`."""

    type: Type
    cut: tuple[str, ...] = ()


def read_schema(schema: Any) -> SchemaType:
    """The type of the values that fit a JSON Schema, or of a few more; never raises."""
    reader = _Reader(schema)
    found = reader.read(schema, 0, ())
    return SchemaType(found, tuple(sorted(reader.cut)))


class _Reader:
    def __init__(self, root: Any) -> None:
        self.root, self.left = root, MAX_PARTS
        self.cut: set[str] = set()

    def read(self, schema: Any, depth: int, references: tuple[str, ...]) -> Type:
        """The type of one part; `references` are those that lead here at the same place of a value and above."""
        if schema is False:
            return NEVER
        if not isinstance(schema, Mapping) or not schema:
            return DYN
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            return self.cut_off(DYN)
        found = self.described(schema, depth + 1, references)
        for narrower in self.narrower(schema, depth + 1, references):
            pairs = 0 if found is DYN else weight_of(found) * weight_of(narrower)
            self.left -= pairs // _PAIRS
            both = meet(found, narrower) if not pairs or self.left >= 0 else None
            # Without what narrows it, a type still holds every value.
            found = both if both and weight_of(both) <= MAX_PARTS else self.cut_off(found)
        return union((found, NULL)) if schema.get("nullable") is True else found

    def cut_off(self, found: Type) -> Type:
        """The type used for a part that is too large to read."""
        self.cut.add("large")
        return found

    def described(self, schema: Mapping[str, Any], depth: int, references: tuple[str, ...]) -> Type:
        """What `type` and the words about parts say."""
        names = schema.get("type")
        if names is None:
            names = _implied(schema)
        wanted = [names] if isinstance(names, str) else names if isinstance(names, list) else []
        return union(self.named(each, schema, depth, references) for each in wanted[:8]) if wanted else DYN

    def named(self, name: Any, schema: Mapping[str, Any], depth: int, references: tuple[str, ...]) -> Type:
        if name == "object":
            return self.object(schema, depth, references) if _OBJECT_WORDS & schema.keys() else MAP
        if name == "array":
            return self.array(schema, depth, references) if _LIST_WORDS & schema.keys() else LIST
        return _SIMPLE.get(name, DYN) if isinstance(name, str) else DYN

    def object(self, schema: Mapping[str, Any], depth: int, references: tuple[str, ...]) -> Type:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        required = (
            {each for each in required if isinstance(each, str)} if isinstance(required, list) else set()
        )
        self.left -= len(required)
        if len(properties) > self.left:
            return self.cut_off(MAP)
        others = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            rest: Type | None = union(
                self.read(each, depth, references) for each in (*patterns.values(), others)
            )
        else:
            rest = None if others is False else self.read(others, depth, references)
        fields = {
            name: Field(self.read(part, depth, references), name in required, _doc(part))
            for name, part in properties.items()
        }
        fields.update(
            {name: Field(DYN if rest is None else rest) for name in sorted(required - fields.keys())}
        )
        self.left -= len(required)
        if any(each.required and each.type is NEVER for each in fields.values()):
            return NEVER
        return Object(fields, rest, declared=rest is DYN and bool(properties))

    def array(self, schema: Mapping[str, Any], depth: int, references: tuple[str, ...]) -> Type:
        items, first = schema.get("items", True), schema.get("prefixItems", [])
        if isinstance(items, list):
            first, items = items, schema.get("additionalItems", True)
        read = [self.read(each, depth, references) for each in (first if isinstance(first, list) else [])]
        return List(union((*read, self.read(items, depth, references))), tuple(read[:MAX_PLACES]))

    def narrower(self, schema: Mapping[str, Any], depth: int, references: tuple[str, ...]) -> list[Type]:
        """What else holds at the same place."""
        found: list[Type] = []
        if "const" in schema or isinstance(schema.get("enum"), list):
            found.append(self.listed([schema["const"]] if "const" in schema else schema["enum"]))
        for word in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(schema.get(word), str):
                found.append(self.referred(schema[word], depth, references))
        for part in _parts(schema, "allOf"):
            found.append(self.read(part, depth, references))
        for word in ("anyOf", "oneOf"):
            if parts := _parts(schema, word):
                ways = (self.read(part, depth, references) for part in parts)
                found.append(union(ways) if len(parts) <= MAX_WAYS else self.cut_off(DYN))
        if "if" in schema:
            found.append(
                union(self.read(schema.get(word, True), depth, references) for word in ("then", "else"))
            )
        return found

    def listed(self, values: list[Any]) -> Type:
        """The values of `enum` or `const`."""
        self.left -= len(values)
        return union(map(_listed, values)) if self.left >= 0 else self.cut_off(DYN)

    def referred(self, reference: str, depth: int, references: tuple[str, ...]) -> Type:
        if reference in references:
            self.cut.add("recursive")
            return DYN
        part = _pointed(self.root, reference)
        if part is None:
            self.cut.add("unresolved")
            return DYN
        return self.read(part, depth, (*references, reference))


def _listed(value: Any) -> Type:
    """One value; a whole number with a point may also come without it, and parts are not looked into."""
    if isinstance(value, list | Mapping):
        return LIST if isinstance(value, list) else MAP
    return NUMBER if isinstance(value, float) and value.is_integer() else type_of_value(value)


def _implied(schema: Mapping[str, Any]) -> str | None:
    """The type that a schema implies which only describes parts."""
    if _OBJECT_WORDS & schema.keys():
        return "object"
    return "array" if _LIST_WORDS & schema.keys() else None


def _parts(schema: Mapping[str, Any], word: str) -> list[Any]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _pointed(root: Any, reference: str) -> Any:
    """The part that a reference within the schema names; None where there is none."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    found = root
    for step in unquote(reference).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(step)
        elif isinstance(found, list) and step.isdecimal() and len(step) < 6 and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def _doc(schema: Any) -> str:
    """What a schema says to people about a field."""
    said = (schema.get("description") or schema.get("title")) if isinstance(schema, Mapping) else None
    return said.strip()[:_DOC] if isinstance(said, str) else ""
