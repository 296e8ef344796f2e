"""Types: sets of the values that an expression may have, with their union, their intersection and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from penstock.expression.values import Duration, Timestamp, UInt

MAX_VALUES, MAX_VARIANTS, MAX_FIELDS, MAX_PLACES, MAX_WEIGHT = 32, 8, 500, 16, 5_000
"""How many known values a scalar, objects a union, fields a union of too many objects, items with a type of their own
a list, and parts a type may have.
"""

Known = str | int | bool


class Type(msgspec.Struct, frozen=True):
    """A set of values."""


class Dyn(Type, frozen=True):
    """Any value: nothing is known, so nothing is wrong."""


class Scalar(Type, frozen=True):
    """The values of one kind without parts; where `values` are given (of strings, ints and bools), only those."""

    kind: str
    values: frozenset[Known] | None = None


class Compound(Type, frozen=True):
    """A type with parts; `weight` counts all of them, so that nobody walks through too many."""

    def __post_init__(self) -> None:
        force_setattr(self, "weight", 1 + sum(weight_of(part) for part in parts_of(self)))


class List(Compound, frozen=True):
    """Lists whose items have one type; the first ones, in so far as they exist, may have narrower types."""

    item: Type
    first: tuple[Type, ...] = ()
    weight: int = 0

    def at(self, index: int) -> Type:
        """The type of the item at an index."""
        return self.first[index] if 0 <= index < len(self.first) else self.item

    def replace(self, index: int, item: Type) -> List:
        """The same with another type of the item at an index."""
        if not 0 <= index < MAX_PLACES:
            return self
        before = (self.at(each) for each in range(index))
        return List(self.item, (*before, item, *self.first[index + 1 :]))


class Map(Compound, frozen=True):
    """Maps that only an expression makes: their keys need not be strings."""

    key: Type
    value: Type
    weight: int = 0


class Field(msgspec.Struct, frozen=True):
    """A field of objects: its type, whether each object has it, and what its schema says to people."""

    type: Type
    required: bool = True
    doc: str = ""


class Object(Compound, frozen=True):
    """Maps from strings: known fields, and the type of all others (None: there are none).

    Where the fields are `declared`, others may exist, but nobody promises any; otherwise the keys are data.
    """

    fields: Mapping[str, Field]
    rest: Type | None = None
    declared: bool = False
    weight: int = 0

    def field(self, name: str) -> Field | None:
        """The field, which may be one of the others; None where no such object has it."""
        found = self.fields.get(name)
        if found is None:
            return Field(self.rest, required=False) if self.rest is not None else None
        return None if found.type is NEVER else found

    def replace(self, name: str, field: Field) -> Object:
        """The same with another field of this name."""
        return Object({**self.fields, name: field}, self.rest, self.declared)

    @property
    def names(self) -> list[str]:
        """The names of the fields that may exist."""
        return [name for name, field in self.fields.items() if field.type is not NEVER]

    @property
    def is_map(self) -> bool:
        """Whether its keys are data, such as those of headers."""
        return self.rest is not None and not self.declared


class Union(Compound, frozen=True):
    """The values of several types, none of which is a union or dyn; made by `union`."""

    members: tuple[Type, ...]
    weight: int = 0


_KIND_OF: Final[dict[type[Type], str]] = {Dyn: "dyn", List: "list", Map: "map", Object: "map"}


def kind_of(member: Type) -> str:
    """The kind of a type that is no union: functions choose by it."""
    return member.kind if isinstance(member, Scalar) else _KIND_OF[member.__class__]


def members_of(found: Type) -> tuple[Type, ...]:
    """The alternatives of a type; a type without any is its only one."""
    return found.members if isinstance(found, Union) else (found,)


def weight_of(found: Type) -> int:
    """How many parts a type has."""
    return getattr(found, "weight", 1)


def parts_of(found: Type) -> Iterator[Type]:
    """The types that a type is made of."""
    match found:
        case List(item=item, first=first):
            yield from (item, *first)
        case Map(key=key, value=value):
            yield from (key, value)
        case Object(fields=fields, rest=rest):
            yield from (field.type for field in fields.values())
            if rest is not None:
                yield rest
        case Union(members=members):
            yield from members


DYN: Final = Dyn()
NULL, BOOL, INT, UINT, DOUBLE = map(Scalar, ("null", "bool", "int", "uint", "double"))
STRING, BYTES, TIMESTAMP, DURATION = map(Scalar, ("string", "bytes", "timestamp", "duration"))
TYPE, IP, CIDR = map(Scalar, ("type", "ip", "cidr"))
NEVER: Final = Union(())
NUMBER: Final = Union((DOUBLE, INT))
LIST: Final = List(DYN)
MAP: Final[Object] = Object({}, DYN)
KINDS: Final = (
    *("null", "bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"),
    *("type", "ip", "cidr", "list", "map"),
)


# -- union and intersection ---------------------------------------------------------------------------------


def union(types: Iterable[Type]) -> Type:
    """The narrowest type of bounded width that holds all of them; NEVER of none."""
    single: dict[str, Type] = {}
    objects: list[Object] = []
    for each in types:
        for member in members_of(each):
            match member:
                case Dyn():
                    return DYN
                case Object():
                    _include(objects, member)
                case _:
                    kind = kind_of(member)
                    single[kind] = _wider(single[kind], member) if kind in single else member
    found = (*(single[kind] for kind in sorted(single)), *objects)
    return found[0] if len(found) == 1 else Union(found) if found else NEVER


def _include(objects: list[Object], member: Object) -> None:
    if member not in objects:
        objects.append(member)
        if len(objects) > MAX_VARIANTS:
            objects[:] = [reduce(_merged, objects)]


def _wider(one: Type, other: Type) -> Type:
    if one is other:
        return one
    match one, other:
        case Scalar(kind, values), Scalar(_, others):
            both = None if values is None or others is None else values | others
            return Scalar(kind, both if both is not None and len(both) <= MAX_VALUES else None)
        case List(), List():
            return _paired(one, other, lambda a, b: union((a, b)))
        case Map(key, value), Map(other_key, other_value):
            return Map(union((key, other_key)), union((value, other_value)))
    raise AssertionError(one, other)


def _paired(one: List, other: List, combine: Callable[[Type, Type], Type]) -> List:
    places = range(max(len(one.first), len(other.first)))
    first = (combine(one.at(each), other.at(each)) for each in places)
    return List(combine(one.item, other.item), tuple(first))


def _merged(one: Object, other: Object) -> Object:
    rests = [each.rest for each in (one, other) if each.rest is not None]
    names = dict.fromkeys((*one.fields, *other.fields))
    if len(names) > MAX_FIELDS:
        return MAP
    fields = {name: _either(one.field(name), other.field(name)) for name in names}
    return Object(fields, union(rests) if rests else None, one.declared or other.declared)


def _either(one: Field | None, other: Field | None) -> Field:
    if one is None or other is None:
        found = one or other or Field(NEVER)
        return Field(found.type, False, found.doc)
    both = union((one.type, other.type))
    return Field(both, one.required and other.required, one.doc or other.doc)


def meet(one: Type, other: Type) -> Type:
    """The values that two types share, or a few more."""
    if one is DYN or one is other:
        return other
    if other is DYN:
        return one
    return union(_common(a, b) for a in members_of(one) for b in members_of(other))


def _common(one: Type, other: Type) -> Type:
    match one, other:
        case Scalar(kind, values), Scalar(other_kind, others) if kind == other_kind:
            return one if others is None else other if values is None else known(kind, values & others)
        case List(), List():
            return _paired(one, other, meet)
        case Object(), Object():
            return _common_object(one, other)
    # A map of an expression never meets a schema: it stays as it is.
    return one if isinstance(one, Map) and kind_of(other) == "map" else NEVER


def _common_object(one: Object, other: Object) -> Type:
    fields = {}
    for name in dict.fromkeys((*one.fields, *other.fields)):
        mine, theirs = one.field(name), other.field(name)
        required = any(each.fields[name].required for each in (one, other) if name in each.fields)
        both = NEVER if mine is None or theirs is None else meet(mine.type, theirs.type)
        if both is NEVER and required:
            return NEVER
        fields[name] = Field(both, required, (mine.doc if mine else "") or (theirs.doc if theirs else ""))
    rest = None if one.rest is None or other.rest is None else meet(one.rest, other.rest)
    return Object(fields, rest, one.declared or other.declared)


def known(kind: str, values: Iterable[Known]) -> Type:
    """The scalar of these values alone; NEVER of none."""
    found = frozenset(values)
    return Scalar(kind, found if len(found) <= MAX_VALUES else None) if found else NEVER


def list_of(items: Iterable[Type]) -> List:
    """The lists of these items."""
    found = tuple(items)
    return List(union(found), found[:MAX_PLACES] if len(found) > 1 else ())


# -- values -------------------------------------------------------------------------------------------------

_VALUE_KINDS: Final[dict[type, Type]] = {
    type(None): NULL,
    float: DOUBLE,
    UInt: UINT,
    bytes: BYTES,
    Timestamp: TIMESTAMP,
    Duration: DURATION,
}
_KNOWN_KINDS: Final[dict[type, str]] = {str: "string", int: "int", bool: "bool"}


def type_of_value(value: Any) -> Type:
    """The type of one value: JSON, or a constant of an expression."""
    kind = _KNOWN_KINDS.get(value.__class__)
    if kind is not None:
        return Scalar(kind, frozenset((value,)))
    if isinstance(value, list | tuple):
        return list_of(map(type_of_value, value))
    if isinstance(value, Mapping):
        return Object({str(key): Field(type_of_value(each)) for key, each in value.items()})
    return _VALUE_KINDS.get(value.__class__, DYN)


_TEXTS: Final = frozenset({"timestamp", "duration", "bytes", "type", "ip", "cidr"})


def as_json(found: Type) -> Type:
    """The type of a result once it is plain JSON, where times are strings and every key is one."""
    match found:
        case Scalar(kind=kind):
            return STRING if kind in _TEXTS else INT if kind == "uint" else found
        case List(item, first):
            return List(as_json(item), tuple(map(as_json, first)))
        case Map(value=value):
            return Object({}, as_json(value))
        case Object(fields, rest):
            plain = {
                name: Field(as_json(each.type), each.required, each.doc) for name, each in fields.items()
            }
            return Object(plain, None if rest is None else as_json(rest), found.declared)
        case Union(members) if members:
            return union(map(as_json, members))
    return found


# -- names --------------------------------------------------------------------------------------------------

_SHOWN = 5


def name_of(found: Type) -> str:
    """What messages call a type, such as `list of int` or ``object with `id`, `name` ``."""
    match found:
        case Dyn():
            return "any value"
        case Scalar("string", frozenset() as values) if len(values) <= _SHOWN:
            return _listed(sorted(f'"{each}"' for each in values), " or ")
        case Scalar(kind=kind):
            return kind
        case List(item):
            return "list" if item is DYN or item is NEVER else f"list of {name_of(item)}"
        case Map(value=value) | Object(fields={}, rest=Type() as value) if not getattr(found, "fields", None):
            return "map" if value is DYN else f"map of {name_of(value)}"
        case Object():
            fields = [f"`{name}`" for name in found.names]
            return f"object with {_listed(fields, ', ')}" if fields else "empty object"
    return _name_of_union(found)


def _name_of_union(found: Type) -> str:
    names = [name_of(each) for each in members_of(found)]
    if "int" in names and "double" in names:
        names = ["number", *(name for name in names if name not in ("int", "double"))]
    return _listed(list(dict.fromkeys(names)), " or ") or "nothing"


def _listed(names: list[str], joint: str) -> str:
    more = ["…"] if len(names) > _SHOWN else []
    return joint.join([each[:60] for each in names[:_SHOWN]] + more)
