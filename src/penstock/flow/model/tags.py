"""Tags that flow along events: each remembers which firing changed it last, so that joins can merge them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from penstock.flow.values.key_text import key_text

LINEAGE = 32
"""How many earlier changes of a tag are remembered, to tell an overwrite from a conflict at a join."""


class Tag(Struct, frozen=True, array_like=True):
    """A tag as one branch knows it. `number`: the firing that changed it; `past`: the changes it replaced."""

    value: Any
    number: int
    past: tuple[int, ...] = ()
    removed: bool = False


Tags = Mapping[str, Tag]
NO_TAGS: Tags = {}


class TagChange(Struct, frozen=True):
    """What a firing does to its tags; with `replace` those not in `set` are removed."""

    set: dict[str, Any] = {}
    remove: tuple[str, ...] = ()
    replace: bool = False

    def mark(self) -> str:
        """A short text for each change, so that a report that comes again can be compared with the first."""
        said = key_text([self.set, sorted(self.remove), self.replace])
        return blake2b(said.encode(), digest_size=8).hexdigest()

    @classmethod
    def of(cls, given: dict[str, Any], replace: bool) -> TagChange:
        """The change that a task asks for: a tag with the value None is removed."""
        if None not in given.values():
            return cls(given, (), replace)
        gone = tuple([name for name, value in given.items() if value is None])
        return cls({name: value for name, value in given.items() if value is not None}, gone, replace)


class Conflict(Struct, frozen=True):
    """Two branches changed one tag to different values since they parted; `kept` is the later change."""

    tag: str
    kept: Any
    lost: Any


def visible(tags: Tags) -> dict[str, Any]:
    """Name and value of each tag that is there."""
    return {name: tag.value for name, tag in tags.items() if not tag.removed}


def change(tags: Tags, by: TagChange, number: int) -> Tags:
    """The tags after firing `number` changed them."""
    changed = dict(tags)
    for name, value in by.set.items():
        changed[name] = Tag(value, number, _lineage(tags.get(name)))
    if not by.remove and not by.replace:
        return changed
    gone = set(by.remove)
    if by.replace:
        gone |= {name for name, tag in tags.items() if not tag.removed and name not in by.set}
    for name in gone & tags.keys():
        changed[name] = Tag(None, number, _lineage(tags.get(name)), removed=True)
    return changed


def merge(branches: Iterable[Tags]) -> tuple[Tags, Sequence[Conflict]]:
    """The latest change of each tag, and the conflicts that this decided."""
    distinct = list({id(tags): tags for tags in branches if tags}.values())
    if len(distinct) < 2:
        return (distinct[0] if distinct else NO_TAGS), ()
    merged = dict(distinct[0])
    conflicts: list[Conflict] = []
    for tags in distinct[1:]:
        for name, tag in tags.items():
            merged[name] = _later(name, merged.get(name), tag, conflicts)
    return merged, conflicts


def _later(name: str, ours: Tag | None, theirs: Tag, conflicts: list[Conflict]) -> Tag:
    if ours is None or ours.number == theirs.number:
        return theirs
    early, late = sorted((ours, theirs), key=lambda tag: tag.number)
    if early.number in late.past:
        return late
    if (early.value, early.removed) != (late.value, late.removed):
        conflicts.append(Conflict(name, late.value, early.value))
    past = tuple(sorted({early.number, *early.past, *late.past}, reverse=True)[:LINEAGE])
    return Tag(late.value, late.number, past, late.removed)


def _lineage(tag: Tag | None) -> tuple[int, ...]:
    return () if tag is None else (tag.number, *tag.past)[:LINEAGE]
