"""The overloads of all operators and functions: which kinds of arguments they take, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Final

from penstock.expression.functions.times import GETTERS
from penstock.expression.types.fitting import Verdict
from penstock.expression.types.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    KINDS,
    NEVER,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    List,
    Map,
    Object,
    Scalar,
    Type,
    kind_of,
    members_of,
    union,
)

Result = Type | Callable[[Sequence[Type]], Type | None]
Overloads = Mapping[tuple[str, ...], Result]
NUMBERS: Final = ("int", "uint", "double")
ORDERED: Final = ("string", "bool", "bytes", "timestamp", "duration")
KEYS: Final = ("string", "int", "uint", "bool")


def _same(*kinds: str) -> dict[tuple[str, ...], Result]:
    """Two of a kind give one of it."""
    return {(kind, kind): Scalar(kind) for kind in kinds}


def _from(kinds: Iterable[str], result: Result, *more: str) -> dict[tuple[str, ...], Result]:
    """One of several kinds, and what follows it."""
    return {(kind, *more): result for kind in kinds}


def _joined(lists: Sequence[Type]) -> Type:
    return List(union(each.item if isinstance(each, List) else DYN for each in lists))


_ORDER: Final[Overloads] = {
    **{pair: BOOL for pair in product(NUMBERS, NUMBERS)},
    **{(kind, kind): BOOL for kind in ORDERED},
}
OPERATORS: Final[dict[str, Overloads]] = {
    "+": {
        **_same(*NUMBERS, "string", "bytes", "duration"),
        ("list", "list"): _joined,
        ("timestamp", "duration"): TIMESTAMP,
        ("duration", "timestamp"): TIMESTAMP,
    },
    "-": {
        **_same(*NUMBERS, "duration"),
        ("timestamp", "timestamp"): DURATION,
        ("timestamp", "duration"): TIMESTAMP,
    },
    "*": _same(*NUMBERS),
    "/": _same(*NUMBERS),
    "%": _same("int", "uint"),
    "negation": {("int",): INT, ("double",): DOUBLE},
    "!": {("bool",): BOOL},
    "in": {**_from(KINDS, BOOL, "list"), **_from((*KEYS, "double"), BOOL, "map")},
    **dict.fromkeys(("<", "<=", ">", ">="), _ORDER),
}
"""By sign; `negation` is the minus in front of one value. Equality is defined between all values."""


def _item(chosen: Sequence[Type]) -> Type | None:
    """What `container[key]` may give; None where no key of this kind exists."""
    container, key = chosen
    match container:
        case List():
            values = key.values if isinstance(key, Scalar) else None
            return union(container.at(int(each)) for each in values) if values else container.item
        case Map(key=keys, value=value):
            numeric = kind_of(key) in NUMBERS
            kinds = {
                "number" if numeric and kind_of(each) in NUMBERS else kind_of(each)
                for each in members_of(keys)
            }
            return value if {"dyn", "number" if numeric else kind_of(key)} & kinds or key is DYN else None
        case Object(fields=fields, rest=rest) if kind_of(key) in ("string", "dyn"):
            values = key.values if isinstance(key, Scalar) else None
            read = [container.field(str(each)) for each in (fields if values is None else values)]
            others = [] if rest is None else [rest]
            found = [*(each.type for each in read if each is not None), *others]
            return union(found) if found else None
    return DYN if container is DYN else None


INDEX: Final[Overloads] = {
    **dict.fromkeys((("list", "int"), ("list", "uint"), ("list", "double")), _item),
    **{("map", key): _item for key in (*KEYS, "double")},
}
"""`container[key]`; a double must be a whole one."""

_TEXT_TEST: Final[Overloads] = {("string", "string"): BOOL}
_TEXT: Final[Overloads] = {("string",): STRING}
_FIND: Final[Overloads] = {("string", "string"): INT, ("string", "string", "int"): INT}
_FIELD: Final[Overloads] = {("timestamp",): INT, ("timestamp", "string"): INT, ("timestamp", "null"): INT}
_LENGTH: Final[Overloads] = {("duration",): INT, ("duration", "null"): INT}
_SPAN: Final = frozenset({"getHours", "getMinutes", "getSeconds", "getMilliseconds"})

FUNCTIONS: Final[dict[str, Overloads]] = {
    "size": _from(("string", "bytes", "list", "map"), INT),
    "matches": _TEXT_TEST,
    "int": _from((*NUMBERS, "string", "timestamp"), INT),
    "uint": _from((*NUMBERS, "string"), UINT),
    "double": _from((*NUMBERS, "string"), DOUBLE),
    "string": _from((*NUMBERS, *ORDERED, "ip", "cidr"), STRING),
    "bool": _from(("bool", "string"), BOOL),
    "bytes": _from(("bytes", "string"), BYTES),
    "type": _from(KINDS, TYPE),
    "dyn": _from(KINDS, DYN),
    "duration": _from(("duration", "string"), DURATION),
    "timestamp": _from(("timestamp", "int", "string"), TIMESTAMP),
    "glob": _TEXT_TEST,
    "ip": _from(("ip", "string"), IP),
    "cidr": _from(("cidr", "string"), CIDR),
    "contains": {**_TEXT_TEST, ("cidr", "string"): BOOL, ("cidr", "ip"): BOOL},
    "startsWith": _TEXT_TEST,
    "endsWith": _TEXT_TEST,
    "lowerAscii": _TEXT,
    "upperAscii": _TEXT,
    "trim": _TEXT,
    "split": {("string", "string"): List(STRING), ("string", "string", "int"): List(STRING)},
    "join": {("list",): STRING, ("list", "string"): STRING},
    "replace": {("string",) * 3: STRING, (*("string",) * 3, "int"): STRING},
    "substring": {
        ("string", "int"): STRING,
        **_from(("string",), STRING, "int", "int"),
        **_from(("string",), STRING, "int", "null"),
    },
    "indexOf": _FIND,
    "lastIndexOf": {**_FIND, ("string", "string", "null"): INT},
    "charAt": {("string", "int"): STRING},
    **{name: {**_FIELD, **(_LENGTH if name in _SPAN else {})} for name in GETTERS},
}
ITEMS: Final[Mapping[str, Type]] = {"join": STRING}
"""What the items of the list are that a function takes."""


def applied(overloads: Overloads, arguments: Sequence[Type]) -> tuple[Type, Verdict, tuple[Type, ...]]:
    """The type of the result, whether each choice of alternatives has an overload, and the first that has none."""
    choices = [_by_kind(argument) for argument in arguments]
    results: list[Type] = []
    failed: tuple[Type, ...] = ()
    for chosen in product(*choices):
        result = _result(overloads, chosen)
        if result is not None:
            results.append(result)
        elif not failed:
            failed = chosen
    if not failed:
        return (results[0] if len(results) == 1 else union(results)), "yes", ()
    return (union(results), "may not", failed) if results else (DYN, "never", failed)


def _by_kind(argument: Type) -> Iterable[Type]:
    """One alternative of each kind: a function treats all objects alike."""
    if argument is NEVER or len(members_of(argument)) == 1:
        return members_of(argument)
    return {kind_of(member): member for member in members_of(argument)}.values()


def _result(overloads: Overloads, chosen: tuple[Type, ...]) -> Type | None:
    kinds = tuple(map(kind_of, chosen))
    found = overloads.get(kinds)
    if found is not None:
        return found if isinstance(found, Type) else found(chosen)
    if DYN not in chosen:
        return None
    # What is unknown takes the overload that the other arguments leave, or leaves the result unknown too.
    left = [each for wanted, each in overloads.items() if _matches(kinds, wanted)]
    if not left:
        return None
    results = [each if isinstance(each, Type) else each(chosen) for each in left]
    return results[0] if all(each == results[0] for each in results) else DYN


def _matches(kinds: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return len(kinds) == len(wanted) and all(
        kind in ("dyn", want) for kind, want in zip(kinds, wanted, strict=True)
    )
