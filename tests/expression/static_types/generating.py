"""Random schemas, values that fit them, and expressions over both: mostly right, sometimes careless."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from penstock.expression.types.types import (
    List,
    Object,
    Scalar,
    Type,
    kind_of,
    members_of,
)
from penstock.expression.values import BoolKey, Duration, Timestamp, TypeValue, UInt

NAMES = ("a", "b", "c", "d")
KEYS = ("k1", "k2")
"""The keys of every map: an expression asks for no others, for which keys a map has is not a matter of types."""
WORDS = ("x", "y", "1", "2.5", "")


class Schemas:
    """Makes schemas of everything that the reader knows, and values that fit."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.shared: dict[str, Any] = {}

    def root(self) -> dict[str, Any]:
        """An object with some fields, and what they refer to."""
        self.shared = {"shared": self.object(0) if self.random.random() < 0.7 else self.any(0)}
        return {**self.object(3), "$defs": self.shared}

    def any(self, depth: int) -> dict[str, Any]:
        makers: tuple[Callable[[int], dict[str, Any]], ...] = (
            self.scalar,
            self.scalar,
            self.several,
            self.words,
        )
        if depth > 0:
            makers += (
                self.object,
                self.object,
                self.array,
                self.map,
                self.variants,
                self.nullable,
                self.shared_one,
            )
            makers += (self.narrowed,)
        return self.random.choice(makers)(depth - 1)

    def scalar(self, depth: int) -> dict[str, Any]:
        return {"type": self.random.choice(("string", "integer", "number", "boolean"))}

    def several(self, depth: int) -> dict[str, Any]:
        return {"type": self.random.sample(("string", "integer", "number", "boolean", "null"), 2)}

    def words(self, depth: int) -> dict[str, Any]:
        values = self.random.choice((["x", "y"], ["x", 1], [1, 2], [None, "x"], [True, "y"], ["x"]))
        return {"const": values[0]} if len(values) == 1 else {"enum": values}

    def object(self, depth: int) -> dict[str, Any]:
        names = self.random.sample(NAMES, self.random.randint(1, 3))
        made: dict[str, Any] = {"type": "object", "properties": {name: self.any(depth) for name in names}}
        made["required"] = [name for name in names if self.random.random() < 0.6]
        if self.random.random() < 0.5:
            made["additionalProperties"] = False
        return made

    def array(self, depth: int) -> dict[str, Any]:
        made = {"type": "array", "items": self.any(depth)}
        return made if self.random.random() < 0.7 else {**made, "prefixItems": [self.any(depth)]}

    def map(self, depth: int) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.any(depth), "required": list(KEYS)}

    def variants(self, depth: int) -> dict[str, Any]:
        made = []
        for word in ("x", "y"):
            variant = self.object(depth)
            variant["properties"]["kind"] = {"const": word}
            variant["required"].append("kind")
            # In an open one a field of the other may be anything: it would be dyn, of which nothing is promised.
            variant["additionalProperties"] = False
            made.append(variant)
        return {self.random.choice(("anyOf", "oneOf")): made}

    def nullable(self, depth: int) -> dict[str, Any]:
        return {"anyOf": [self.any(depth), {"type": "null"}]}

    def narrowed(self, depth: int) -> dict[str, Any]:
        made = self.object(depth)
        words = [{"required": [name]} for name in made["properties"]]
        if self.random.random() < 0.5:
            return {"allOf": [made, self.random.choice(words)]}
        first = next(iter(made["properties"]))
        return {**made, "if": {"required": [first]}, "then": {"required": [first]}, "else": words[-1]}

    def shared_one(self, depth: int) -> dict[str, Any]:
        return {"$ref": "#/$defs/shared"}

    def value(self, schema: Mapping[str, Any]) -> Any:
        """A value that often fits."""
        if "$ref" in schema:
            return self.value(self.shared["shared"])
        for word in ("anyOf", "oneOf", "enum"):
            if word in schema:
                chosen = self.random.choice(schema[word])
                return self.value(chosen) if word != "enum" else chosen
        if "const" in schema:
            return schema["const"]
        if "allOf" in schema:
            made, also = schema["allOf"]
            return self.value({**made, "required": [*made["required"], *also["required"]]})
        wanted = schema["type"]
        return self.typed(wanted if isinstance(wanted, str) else self.random.choice(wanted), schema)

    def typed(self, wanted: str, schema: Mapping[str, Any]) -> Any:
        if wanted == "object":
            fields = {
                name: self.value(part)
                for name, part in schema.get("properties", {}).items()
                if name in schema["required"] or self.random.random() < 0.5
            }
            rest = schema.get("additionalProperties", True)
            if isinstance(rest, dict):
                return fields | {key: self.value(rest) for key in KEYS}
            if rest and self.random.random() < 0.3:
                # A name that no expression asks for: what it holds is unknown, so that nothing is promised.
                fields["other"] = self.random.choice((1, "x", None))
            return fields
        if wanted == "array":
            items = [*schema.get("prefixItems", ()), schema["items"], schema["items"]]
            return [self.value(each) for each in items[: self.random.randrange(3)]]
        return self.random.choice(_VALUES[wanted])


_VALUES: dict[str, tuple[Any, ...]] = {
    "string": WORDS,
    "integer": (0, 1, -3, 7),
    "number": (0, 2, 1.5, -2.25),
    "boolean": (True, False),
    "null": (None,),
}


def conforms(value: Any, found: Type) -> bool:
    """Whether a value of an expression is one of the values of a type."""
    match found:
        case Scalar(kind, values):
            return KINDS.get(value.__class__) == kind and (values is None or value in values)
        case List(item=item):
            return isinstance(value, list) and all(
                conforms(each, item) and conforms(each, found.at(index)) for index, each in enumerate(value)
            )
        case Object(fields=fields):
            if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
                return False
            known = {name: found.field(name) for name in value}
            missing = [name for name, field in fields.items() if field.required and name not in value]
            return not missing and all(
                field is not None and conforms(value[name], field.type) for name, field in known.items()
            )
    others = members_of(found)
    return others == (found,) or any(conforms(value, each) for each in others)


KINDS: dict[type, str] = {
    **{type(None): "null", bool: "bool", int: "int", UInt: "uint", float: "double", str: "string"},
    **{bytes: "bytes", Timestamp: "timestamp", Duration: "duration", TypeValue: "type"},
    BoolKey: "bool",
}


class Place(NamedTuple):
    """Something that can be read: its text, its type, and what must hold before."""

    text: str
    type: Type
    guards: tuple[str, ...]


def places(text: str, found: Type, guards: tuple[str, ...] = (), depth: int = 4) -> Iterator[Place]:
    """A value and all below it."""
    yield Place(text, found, guards)
    members = members_of(found)
    for member in members if depth else ():
        own = (*guards, *_only(text, "map" if isinstance(member, Object) else kind_of(member), found))
        match member:
            case Object(fields=fields):
                if kind := fields.get("kind"):
                    values = getattr(kind.type, "values", None) or ()
                    own = (*own, *(f'{text}.kind == "{each}"' for each in values))
                for name, field in fields.items():
                    asked = (*own, *(() if field.required else (f"has({text}.{name})",)))
                    yield from places(f"{text}.{name}", field.type, asked, depth - 1)
            case List():
                yield from places(f"{text}[0]", member.at(0), own, depth - 1)


def _only(text: str, kind: str, found: Type) -> tuple[str, ...]:
    """What must hold where a value is of this kind."""
    kinds = {kind_of(member) for member in members_of(found)}
    if kinds == {kind}:
        return ()
    if kinds == {kind, "null"}:
        return (f"{text} != null",)
    return (f"type({text}) == {'null_type' if kind == 'null' else kind}",)


class Writer:
    """Writes expressions of a wanted kind over the places of a scope."""

    def __init__(
        self, random: Random, scope: Mapping[str, Type], care: float, straight: bool = False
    ) -> None:
        """`care`: how likely a guard is not forgotten; `straight`: without choices and loops."""
        self.random, self.care, self.straight = random, care, straight
        self.places = [place for name, found in scope.items() for place in places(name, found)]

    def expression(self, depth: int = 3) -> str:
        return self.of(self.random.choice(("bool", "bool", "int", "string", "double", "list", "map")), depth)

    def of(self, kind: str, depth: int) -> str:
        """An expression of this kind, but for now and then."""
        if self.random.random() > self.care:
            kind = self.random.choice(tuple(_LITERALS))
        if depth <= 0 or self.random.random() < 0.45:
            return self.read(kind)
        return self.random.choice(_MAKERS[kind])(self, depth - 1)

    def read(self, kind: str) -> str:
        fitting = [each for each in self.places if kind in map(kind_of, members_of(each.type))]
        if not fitting or self.random.random() < 0.15:
            return self.one(*_LITERALS[kind])
        place = self.random.choice(fitting)
        guards = [*place.guards, *_only(place.text, kind, place.type)]
        return self.guarded(place.text, guards, kind)

    def guarded(self, text: str, guards: list[str], kind: str) -> str:
        """What is read, after what must hold; some of it may be forgotten, or come late."""
        asked = [each for each in guards if self.random.random() < self.care]
        if not asked or self.straight:
            return text
        if kind == "bool" and self.random.random() < 0.5:
            terms = [*asked, text]
            if self.random.random() < 0.5:
                self.random.shuffle(terms)
            if self.random.random() < 0.5:
                return f"({' && '.join(terms)})"
            return f"({' || '.join(each if each == text else f'!({each})' for each in terms)})"
        condition, other = " && ".join(asked), self.one(*_LITERALS[kind])
        if self.random.random() < 0.3:
            return f"(!({condition}) ? {other} : {text})"
        return f"({condition} ? {text} : {other})"

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def loop(self, depth: int, write: Callable[[str, Writer], str]) -> str:
        """A macro over a list; its body sees the variable."""
        lists = [each for each in self.places if "list" in map(kind_of, members_of(each.type))]
        if not lists or self.straight:
            return self.one("true", "false")
        place = self.random.choice(lists)
        (found,) = (each for each in members_of(place.type) if isinstance(each, List))
        name = f"v{depth}"
        inner = Writer(self.random, {}, self.care)
        inner.places = [*self.places, *places(name, found.item)]
        guards = [*place.guards, *_only(place.text, "list", place.type)]
        return self.guarded(f"{place.text}.{write(name, inner)}", guards, "bool")


Maker = Callable[[Writer, int], str]
_LITERALS: dict[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    "int": ("0", "1", "-3"),
    "double": ("1.5", "-0.5"),
    "string": ("'x'", "'y'", "''", "'12'"),
    "list": ("[]", "[1, 2]", "['x']"),
    "map": ("{}", "{'a': 1}", "{'b': 'x', 'c': [1]}"),
    "null": ("null",),
}


def _arithmetic(kind: str) -> Maker:
    return lambda w, depth: f"({w.of(kind, depth)} {w.one('+', '-', '*', '/')} {w.of(kind, depth)})"


def _choice(kind: str) -> Maker:
    def write(w: Writer, depth: int) -> str:
        if w.straight:
            return w.read(kind)
        return f"({w.of('bool', depth)} ? {w.of(kind, depth)} : {w.of(kind, depth)})"

    return write


def _logic(w: Writer, depth: int) -> str:
    if w.straight:
        return f"!({w.of('bool', depth)})"
    terms = [w.of("bool", depth) for _ in range(w.random.randint(2, 3))]
    return f"{w.one('', '!')}({w.one(' && ', ' || ').join(terms)})"


def _comparison(w: Writer, depth: int) -> str:
    sign = w.one("==", "!=", "<", ">=")
    kind = w.one("int", "double", "string", "bool")
    other = w.one("int", "double") if kind in ("int", "double") else kind
    if sign in ("==", "!=") and w.random.random() < 0.4:
        other = w.one(*_LITERALS)
    return f"({w.of(kind, depth)} {sign} {w.of(other, depth)})"


def _quantifier(w: Writer, depth: int) -> str:
    sign = w.one("all", "exists", "exists_one")
    return w.loop(depth, lambda name, inner: f"{sign}({name}, {inner.of('bool', depth)})")


def _mapped(w: Writer, depth: int) -> str:
    def write(name: str, inner: Writer) -> str:
        kind = w.one(*_LITERALS)
        condition = f"{inner.of('bool', depth)}, " if w.random.random() < 0.3 else ""
        return f"map({name}, {condition}{inner.of(kind, depth)})"

    made = w.loop(depth, write if w.random.random() < 0.5 else _filter(depth))
    return made if made not in ("true", "false") else "[]"


def _filter(depth: int) -> Callable[[str, Writer], str]:
    return lambda name, inner: f"filter({name}, {inner.of('bool', depth)})"


_MAKERS: dict[str, tuple[Maker, ...]] = {
    "bool": (
        _logic,
        _logic,
        _comparison,
        _comparison,
        _quantifier,
        _choice("bool"),
        lambda w, depth: (
            f"{w.of('string', depth)}.{w.one('startsWith', 'contains', 'matches')}({w.of('string', 0)})"
        ),
        lambda w, depth: f"({w.of(w.one(*_LITERALS), depth)} in {w.of('list', depth)})",
        lambda w, depth: f"('a' in {w.of('map', depth)})",
    ),
    "int": (
        _arithmetic("int"),
        _choice("int"),
        lambda w, depth: f"size({w.of(w.one('string', 'list', 'map'), depth)})",
        lambda w, depth: f"int({w.of(w.one('string', 'double', 'int'), depth)})",
        lambda w, depth: f"-({w.of('int', depth)})",
    ),
    "double": (
        _arithmetic("double"),
        _choice("double"),
        lambda w, depth: f"double({w.of(w.one('string', 'double', 'int'), depth)})",
    ),
    "string": (
        _choice("string"),
        lambda w, depth: f"({w.of('string', depth)} + {w.of('string', depth)})",
        lambda w, depth: f"string({w.of(w.one('string', 'double', 'int', 'bool'), depth)})",
        lambda w, depth: f"{w.of('string', depth)}.{w.one('trim', 'upperAscii')}()",
        lambda w, depth: (
            f"{w.of('list', depth)}.map(e, string(type(e) == string)).join()"
            if not w.straight
            else f"{w.of('list', depth)}.join()"
        ),
    ),
    "list": (
        _mapped,
        _mapped,
        _choice("list"),
        lambda w, depth: f"[{', '.join(w.of(w.one(*_LITERALS), depth) for _ in range(2))}]",
        lambda w, depth: f"({w.of('list', depth)} + {w.of('list', depth)})",
        lambda w, depth: f"{w.of('string', depth)}.split({w.of('string', 0)})",
    ),
    "map": (
        _choice("map"),
        lambda w, depth: f"{{'a': {w.of(w.one(*_LITERALS), depth)}, 'b': {w.of(w.one(*_LITERALS), depth)}}}",
    ),
    "null": (lambda w, depth: "null",),
}
