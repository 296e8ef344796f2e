"""Does a JSON value fit a JSON Schema? One plain sentence for each thing that does not; and what such a check may cost.

A validator tries both sides of `anyOf`, and a `$ref` costs what it leads to: twenty such pairs, one in the other, are a
million looks, and sixty are more than there is time. What refers to nothing is as cheap as it is long.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

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


def part_at(root: Any, reference: str) -> Any:
    """The part of a schema at a reference such as `#/$defs/order`; None where it is none of this schema."""
    found = root
    for step in unquote(reference).rpartition("#")[2].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(step)
        elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


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
        return part_at(self._root, reference)

    def _within(self, cost: int) -> int:
        if cost > MAX_LOOKS:
            raise _TooMuch
        return cost

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise _TooMuch


# -- the check ------------------------------------------------------------------------------------------------


ValidationErrors = Callable[[Any], list[str]]
"""What is wrong with a value, each with its place; empty where it fits."""


def violations(schema: Any, value: Any) -> list[str]:
    """What is wrong with `value`, each with its place; empty where it fits or there is no schema."""
    return [] if schema is None else validator_of(schema)(value)


def validator_of(schema: Any, mask: str | None = None, top: str = "") -> ValidationErrors:
    """The check of a schema, made once for many values. Raises ValueError where it is none, or has no end.

    With `mask`, its sentences show that text instead of values, and only names that the schema knows: what a value
    has of its own may be secret. `top` is what they call the value itself.
    """
    if is_too_costly(schema):
        raise ValueError(TOO_COSTLY)
    try:
        checker = jsonschema_rs.validator_for(schema, retriever=_reject_remote_reference, mask=mask)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    names = None if mask is None else frozenset(_names(schema))
    return _Checker(checker, _size(schema, _NOTES), widest(schema), names, top)


def quick_check(check: ValidationErrors) -> Callable[[Any], bool] | None:
    """Whether a value fits, without the reasons; None if the schema is too wide to answer that quickly."""
    return check.quick if isinstance(check, _Checker) else None


MAX_REPORTED = 500_000
"""Parts of a schema times parts and letters of a value up to which all that is wrong is told.

Each thing that is wrong holds a copy of both, and they are all made before the first can be read: a list of a hundred
thousand wrong words and a schema of some hundred right ones would take gigabytes.
"""
MAX_CHECKS, NARROW = 5_000_000, 20
"""Parts of a value times those of a schema that look at each: about a second. What has few ways is not counted."""
TOO_LONG = "it has too many parts to be held against a schema of so many ways: send fewer of them"
MAX_SENTENCE = 600
"""Letters of one sentence: it begins with the value, which may be large."""


class _Checker:
    """Tells all that is wrong with a value, or of a large one the first thing."""

    def __init__(self, checker: Any, size: int, wide: int, names: frozenset[str] | None, top: str) -> None:
        """`names`: those that may be told; None: all. `top`: what the value is called."""
        self._checker, self._size, self._wide, self._names, self._top = checker, size, wide, names, top

    @property
    def quick(self) -> Callable[[Any], bool] | None:
        fits: Callable[[Any], bool] = self._checker.is_valid
        return fits if self._wide <= NARROW else None

    def __call__(self, value: Any) -> list[str]:
        if self._wide > NARROW and sum(1 for _ in parts(value)) * self._wide > MAX_CHECKS:
            return [f"{self._top}: {TOO_LONG}" if self._top else TOO_LONG]
        if self._checker.is_valid(value):
            return []
        if _size(value) * self._size <= MAX_REPORTED:
            return [self._sentence(error) for error in self._checker.iter_errors(value)]
        try:
            self._checker.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [self._sentence(error)]
        return []

    def _sentence(self, error: jsonschema_rs.ValidationError) -> str:
        path, message, names = error.instance_path, str(error.message), self._names
        if names is not None:
            path = [part if isinstance(part, int) or part in names else "…" for part in path]
            message = _expected(error) or _STRANGE_NAMES.get(error.kind.name, message)
        where = self._top + "".join(map(_step, path))
        if len(message) > MAX_SENTENCE:
            message = f"{message[: MAX_SENTENCE // 2]} … {message[-MAX_SENTENCE // 2 :]}"
        return f"{where.lstrip('.')}: {message}" if where else message


_NOTES = frozenset({"$comment", "default", "description", "examples", "title"})
"""What a schema says to people: no value is held against it."""


def _size(value: Any, but: frozenset[str] = frozenset()) -> int:
    """How many parts a JSON value has, and letters in them; without what has one of the names in `but`."""
    size, todo = 0, [value]
    while todo:
        each = todo.pop()
        size += 1
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            kept = [name for name in each if name not in but]
            size += sum(map(len, kept))
            todo.extend(each[name] for name in kept)
        elif isinstance(each, list | tuple):
            todo.extend(each)
    return size


DIALECT = re.compile(
    r"http://json-schema\.org/draft-0[467]/schema#?|https://json-schema\.org/draft/(?:2019-09|2020-12)/schema#?"
)
STRANGE_DIALECT = "`$schema` names no known draft of JSON Schema; leave it out for draft 2020-12"


def has_strange_dialect(schema: Any) -> bool:
    """Whether a schema is of a draft that would have to be fetched."""
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    return isinstance(dialect, str) and not DIALECT.fullmatch(dialect)


def schema_fault(schema: Any) -> str | None:
    """Why a value is no JSON Schema that can be used as it is: ` at PLACE: WHY`, or `: WHY`; None where it is one.

    A schema may be valid and still not be one to check by: a pattern that cannot be read, a reference to nowhere.
    """
    if has_strange_dialect(schema):
        return f": {STRANGE_DIALECT}"
    try:
        jsonschema_rs.meta.validate(schema)
        if is_too_costly(schema):
            raise ValueError(TOO_COSTLY)
        jsonschema_rs.validator_for(schema, retriever=_reject_remote_reference)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        said = str(getattr(error, "message", None) or error).splitlines()[0].rstrip(".")
        said = re.sub(r"Resource ('.*') is not present in a registry.*", r"\1 is outside this file", said)
        inside = "".join(f"/{each}" for each in getattr(error, "instance_path", ()))
        return f" at `{inside}`: {said}" if inside else f": {said}"
    return None


def _reject_remote_reference(address: str) -> Any:
    """A schema never reaches out to the network."""
    raise ValueError(f"the schema refers to {address}: put what it needs into the schema itself")


_PLAIN = re.compile(r"[\w-]+")
_PLACE = re.compile(r'((?:\.?[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+): ')
_STEP = re.compile(r'\.?([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def pointer_of(sentence: str) -> str:
    """The place that a sentence of a check begins with, such as `list[1]["a b"]: …`, as a JSON pointer."""
    place = _PLACE.match(sentence)
    if place is None:
        return ""
    names = (plain or number or json.loads(quoted) for plain, number, quoted in _STEP.findall(place[1]))
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)


def _step(part: str | int) -> str:
    """A step into a value; a name that has more than letters, digits, `_` and `-` is quoted, so that it ends."""
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def _names(schema: Any) -> Iterator[str]:
    """Every name in a schema."""
    return (name for each in parts(schema) if isinstance(each, Mapping) for name in each)


_STRANGE_NAMES = {
    "additionalProperties": "it has properties that are not allowed",
    "unevaluatedProperties": "it has properties that are not allowed",
    "propertyNames": "it has a property whose name is not allowed",
}
"""What is said, by the kind of error, where names of the value must not be told."""


_KINDS: dict[type, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


def _expected(error: jsonschema_rs.ValidationError) -> str | None:
    """The sentence about a value of a wrong type; it does not show the value."""
    if error.kind.name != "type":
        return None
    expected = " or ".join(sorted(error.kind.as_dict()["types"]))
    return f"expected {expected}, found {_KINDS.get(type(error.instance), 'null')}"
