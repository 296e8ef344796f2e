"""Does a type fit another one? Yes, perhaps not, or never; with the first place where it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from penstock.expression.types.types import (
    DYN,
    NEVER,
    Field,
    List,
    Map,
    Object,
    Scalar,
    Type,
    kind_of,
    members_of,
    weight_of,
)

Verdict = Literal["yes", "may not", "never"]
MAX_PAIRS: Final = 1_000_000
"""Pairs of parts that are compared."""
_RANK: Final = {"yes": 0, "may not": 1, "never": 2}
_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class Fit(msgspec.Struct, frozen=True):
    """Whether a type fits; where it may not, the place such as `items[].id`, what is found there, and what should be.

    `why` is `type` for a wrong type, `missing` and `optional` for a field that is not or not always there, and
    `unexpected` for one that must not exist.
    """

    verdict: Verdict
    why: Literal["", "type", "missing", "optional", "unexpected"] = ""
    path: str = ""
    found: Type = DYN
    expected: Type = DYN


YES: Final = Fit("yes")


def fits(found: Type, expected: Type, path: str = "") -> Fit:
    """How values of one type fit another; what is unknown, or too large to compare, fits."""
    if found is DYN or expected is DYN or found is expected or found is NEVER:
        return YES
    if weight_of(found) * weight_of(expected) > MAX_PAIRS:
        return YES
    each = [_best(member, expected, path) for member in members_of(found)]
    if all(fit.verdict == "never" for fit in each):
        return each[0] if len(each) == 1 else Fit("never", "type", path, found, expected)
    worst = max(each, key=_rank)
    return YES if worst is YES else msgspec.structs.replace(worst, verdict="may not")


def _rank(fit: Fit) -> int:
    return _RANK[fit.verdict]


def _best(member: Type, expected: Type, path: str) -> Fit:
    """How one alternative fits the one that suits it best."""
    ways = [_fit(member, each, path) for each in members_of(expected) if kind_of(each) == kind_of(member)]
    if ways:
        return min(ways, key=_rank)
    whole = kind_of(member) == "double" and any(kind_of(each) == "int" for each in members_of(expected))
    return Fit("may not" if whole else "never", "type", path, member, expected)


def _fit(found: Type, expected: Type, path: str) -> Fit:
    match found, expected:
        case Scalar(values=values), Scalar(values=others) if others is not None:
            shared = others if values is None else values & others
            verdict: Verdict = "never" if not shared else "yes" if shared == values else "may not"
            return YES if verdict == "yes" else Fit(verdict, "type", path, found, expected)
        case List(), List():
            return _worst(_items(found, expected, path))
        case Object(), Object():
            return _worst(_fields(found, expected, path))
        case Map(value=value), Object(rest=Type() as rest):
            return fits(value, rest, f"{path}[]")
    return YES


def _items(found: List, expected: List, path: str) -> Iterator[Fit]:
    """How the items fit; a list may be empty, and an empty one fits any."""
    places = range(max(len(found.first), len(expected.first)))
    pairs = [(found.at(each), expected.at(each), f"{path}[{each}]") for each in places]
    for item, other, place in (*pairs, (found.item, expected.item, f"{path}[]")):
        fit = fits(item, other, place)
        yield msgspec.structs.replace(fit, verdict="may not") if fit.verdict == "never" else fit


def _worst(fits: Iterable[Fit]) -> Fit:
    return max(fits, key=_rank, default=YES)


def _fields(found: Object, expected: Object, path: str) -> Iterator[Fit]:
    """How the fields that either has fit."""
    for name in dict.fromkeys((*expected.fields, *found.names)):
        place = f"{path}{_step(name)}".removeprefix(".")
        wanted, has = expected.field(name), found.field(name)
        if wanted is None:
            if has is not None and name in found.fields:
                yield Fit("never" if has.required else "may not", "unexpected", place, has.type, NEVER)
        elif has is None:
            if wanted.required:
                yield Fit("never", "missing", place, NEVER, wanted.type)
        else:
            yield _field(has, wanted, place, found.is_map)
    if found.rest is not None and expected.rest is not None:
        fit = fits(found.rest, expected.rest, f"{path}[]")
        yield msgspec.structs.replace(fit, verdict="may not") if fit.verdict == "never" else fit


def _field(has: Field, wanted: Field, place: str, unknown: bool) -> Fit:
    fit = fits(has.type, wanted.type, place)
    if not has.required:
        if fit.verdict == "never" and not wanted.required:
            fit = msgspec.structs.replace(fit, verdict="may not")
        if wanted.required and fit is YES and not (unknown and has.type is DYN):
            return Fit("may not", "optional", place, has.type, wanted.type)
    return fit


def _step(name: str) -> str:
    return f".{name}" if _PLAIN.fullmatch(name) else f"[{json.dumps(name, ensure_ascii=False)}]"
