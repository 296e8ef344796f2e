"""What a JSON Schema may cost: how often it would look at one place of a value. Some never come to an end.

A validator tries both sides of `anyOf`, and a `$ref` costs what it leads to: twenty such pairs, one in the other, are a
million looks, and sixty are more than there is time. What refers to nothing is as cheap as it is long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from penstock.flow.values.payload import MAX_DEPTH

MAX_LOOKS = 20_000
"""Looks at one place of a value and what leads to it: some tenths of a second."""
MAX_WORK, MAX_CHAIN = 300_000, 200

_HERE, _HERE_LISTS = ("not", "if", "then", "else"), ("allOf", "anyOf", "oneOf")
_HERE_MAPS, _REFERENCES = ("dependentSchemas", "dependencies"), ("$ref", "$dynamicRef", "$recursiveRef")
_OTHER_NAMES = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("items", "additionalItems", "contains", "unevaluatedItems")

TOO_COSTLY = "its parts refer to each other and would be tried without end: let `anyOf`, `allOf` and `oneOf` refer less"

Node = Mapping[str, Any]


class _TooMuch(Exception):
    """There is no end to it, or none in time."""


def is_too_costly(schema: Any) -> bool:
    """Whether some value, nested as deep as values may be, would be looked at too often."""
    if not isinstance(schema, Mapping):
        return False
    try:
        cost = _Cost(schema)
        return cost.refers and cost.of(schema, MAX_DEPTH) > MAX_LOOKS
    except (_TooMuch, RecursionError):
        return True


def widest(schema: Any) -> int:
    """How many parts of a schema look at one place of a value at most; of one that is not too costly."""
    if not isinstance(schema, Mapping):
        return 1
    cost, widths = _Cost(schema), dict[int, int]()
    for each in parts(schema):
        if isinstance(each, Mapping):
            _width(each, cost, widths)
    return max(widths.values())


def parts(value: Any) -> Iterator[Any]:
    """A JSON value and every value in it, however deep."""
    todo = [value]
    while todo:
        each = todo.pop()
        yield each
        if isinstance(each, Mapping | list | tuple):
            todo.extend(each.values() if isinstance(each, Mapping) else each)


def _width(node: Node, cost: _Cost, widths: dict[int, int]) -> int:
    own = id(node)
    if own not in widths:
        widths[own] = 1
        patterns = node.get("patternProperties")
        widths[own] += len(patterns) if isinstance(patterns, Mapping) else 0
        widths[own] += sum(_width(each, cost, widths) for each in cost.beside(node))
    return widths[own]


class _Cost:
    def __init__(self, root: Node) -> None:
        self._root, self._work, self.refers = root, 0, False
        self._named: dict[str, Node] = {}
        self._nodes: dict[int, Node] = {}
        self._here: dict[int, Counter[int]] = {}
        self._below: dict[int, list[Counter[int]]] = {}
        self._costs: dict[tuple[int, int], int] = {}
        self._look_through(root)

    def _look_through(self, root: Any) -> None:
        """Whether anything refers to anything, and which parts have names of their own."""
        for each in parts(root):
            if isinstance(each, Mapping):
                self.refers = self.refers or any(key in each for key in _REFERENCES)
                for key in ("$anchor", "$dynamicAnchor", "$id", "id"):
                    if isinstance(each.get(key), str):
                        self._named[each[key].lstrip("#")] = each

    def of(self, node: Node, depth: int) -> int:
        """Looks at one place and at those on the costliest way below it. Raises _TooMuch."""
        key = (id(node), depth)
        if key not in self._costs:
            here = self._at(node, ())
            cost = here.total()
            if depth:
                ways = (
                    sum(times * self.of(self._nodes[each], depth - 1) for each, times in way.items())
                    for way in self._ways(node, here)
                )
                cost += max(ways, default=0)
            self._costs[key] = self._within(cost)
        return self._costs[key]

    def _at(self, node: Node, chain: tuple[int, ...]) -> Counter[int]:
        """How often each part of the schema looks at the same place as `node` does."""
        own = id(node)
        if own not in self._here:
            if own in chain or len(chain) > MAX_CHAIN:
                raise _TooMuch
            self._nodes[own] = node
            found = Counter([own])
            for each in self.beside(node):
                found += self._at(each, (*chain, own))
                self._spend(len(found))
            self._within(found.total())
            self._here[own] = found
        return self._here[own]

    def beside(self, node: Node) -> Iterator[Node]:
        """What looks at the same place."""
        found = [node.get(key) for key in _HERE]
        for key in _HERE_LISTS:
            found += node[key] if isinstance(node.get(key), list) else []
        for key in _HERE_MAPS:
            found += node[key].values() if isinstance(node.get(key), Mapping) else []
        found += [self._referred(node[key]) for key in _REFERENCES if isinstance(node.get(key), str)]
        return (each for each in found if isinstance(each, Mapping))

    def _ways(self, node: Node, here: Counter[int]) -> list[Counter[int]]:
        """For each way down, a name or the items of a list, how often which part looks there."""
        own = id(node)
        if own not in self._below:
            names: dict[str, Counter[int]] = {}
            others, items = Counter[int](), Counter[int]()
            for each, times in here.items():
                part = self._nodes[each]
                for name, below in self._maps(part, "properties"):
                    self._add(names.setdefault(name, Counter()), below, times)
                patterns = (below for _, below in self._maps(part, "patternProperties"))
                for below in (*(part.get(key) for key in _OTHER_NAMES), *patterns):
                    self._add(others, below, times)
                for key in (*_ITEMS, "prefixItems"):
                    for below in part[key] if isinstance(part.get(key), list) else [part.get(key)]:
                        self._add(items, below, times)
            self._below[own] = [*(way + others for way in names.values()), others, items]
        return self._below[own]

    def _maps(self, part: Node, key: str) -> list[tuple[str, Any]]:
        return list(part[key].items()) if isinstance(part.get(key), Mapping) else []

    def _add(self, way: Counter[int], below: Any, times: int) -> None:
        self._spend(1)
        if isinstance(below, Mapping):
            self._nodes[id(below)] = below
            way[id(below)] += times

    def _referred(self, reference: str) -> Any:
        """The part that a reference means; None where it is none of this schema."""
        _, _, inside = unquote(reference).rpartition("#")
        if reference in self._named or inside in self._named:
            return self._named.get(reference) or self._named[inside]
        found: Any = self._root
        for step in inside.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(step)
            elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
                found = found[int(step)]
            else:
                return None
        return found

    def _within(self, cost: int) -> int:
        if cost > MAX_LOOKS:
            raise _TooMuch
        return cost

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise _TooMuch
