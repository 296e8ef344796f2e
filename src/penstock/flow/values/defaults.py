"""The `default`s of a JSON Schema: what fills in for what a value does not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.flow.values.payload import MAX_DEPTH, copied
from penstock.flow.values.schema_validation import part_at, parts

MAX_FILLED = 10_000
"""Defaults that one value may need: a schema can ask for defaults in defaults without end."""


class TooManyDefaults(Exception):
    """The defaults of a schema lead to each other without end."""

    def __init__(self) -> None:
        super().__init__("its `default`s lead to each other without end: leave one of them out")


def has_defaults(schema: Any) -> bool:
    """Whether some part of a schema has a default."""
    return any(isinstance(each, Mapping) and "default" in each for each in parts(schema))


def with_defaults(schema: Any, value: Any) -> Any:
    """The value, in which what is absent has the default of its schema. Raises TooManyDefaults.

    Defaults are taken from `properties`, `additionalProperties`, `items` and `prefixItems`, through `$ref` and `allOf`;
    null counts as a value. Parts that only may hold, as in `anyOf` and `if`, give none. The value stays as it is.
    """
    return _Filler(schema).filled(schema, value, MAX_DEPTH)


class _Filler:
    def __init__(self, root: Any) -> None:
        self._root, self._left = root, MAX_FILLED

    def filled(self, schema: Any, value: Any, levels: int) -> Any:
        if not isinstance(schema, Mapping) or not isinstance(value, dict | list):
            return value
        if levels == 0:
            raise TooManyDefaults
        for part in self._same_place(schema, levels):
            value = (
                self._object(part, value, levels)
                if isinstance(value, dict)
                else self._list(part, value, levels)
            )
        return value

    def _same_place(self, schema: Mapping[str, Any], levels: int) -> list[Mapping[str, Any]]:
        """A schema and those that must hold with it."""
        if levels == 0:
            raise TooManyDefaults
        reference, every = schema.get("$ref"), schema.get("allOf")
        joined = [part_at(self._root, reference)] if isinstance(reference, str) else []
        joined += every if isinstance(every, list) else []
        found = [schema]
        for each in joined:
            self._spend()
            found += self._same_place(each, levels - 1) if isinstance(each, Mapping) else []
        return found

    def _object(self, schema: Mapping[str, Any], value: dict[str, Any], levels: int) -> dict[str, Any]:
        named, others = schema.get("properties"), schema.get("additionalProperties")
        named = named if isinstance(named, Mapping) else {}
        made = {name: self.filled(named.get(name, others), each, levels - 1) for name, each in value.items()}
        for name, each in named.items():
            if name not in made and isinstance(each, Mapping):
                for part in self._same_place(each, levels - 1):
                    if "default" in part:
                        self._spend()
                        made[name] = self.filled(each, copied(part["default"]), levels - 1)
                        break
        return made

    def _list(self, schema: Mapping[str, Any], value: list[Any], levels: int) -> list[Any]:
        first, others = schema.get("prefixItems"), schema.get("items")
        first = first if isinstance(first, list) else []
        own = [*first[: len(value)], *[others] * max(0, len(value) - len(first))]
        return [self.filled(part, each, levels - 1) for part, each in zip(own, value, strict=True)]

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyDefaults
