"""One value of a wanted kind out of a node, or None and a problem that says what was found instead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any, Never

from msgspec import Struct

from penstock.flow.format.nodes import BROKEN, Findings, Node, Place, describe, plain
from penstock.flow.model.definition import Json
from penstock.flow.model.names import is_reserved, nearest, shown, wrong_identifier, wrong_name
from penstock.flow.values.duration import parse_duration
from penstock.flow.values.schema_validation import STRANGE_DIALECT, has_strange_dialect, schema_fault

Refused = Never | None  # noqa: RUF020 - mypy lets nobody return a mere None
"""What a reader gives where a problem was recorded: None, whatever it reads."""


class Spot(Struct, frozen=True):
    """A node, where it is, and what to call it in a sentence."""

    node: Node
    path: str
    label: str
    findings: Findings
    key_place: Place | None = None

    @property
    def value(self) -> Any:
        return self.node.value

    def child(self, key: str) -> Spot:
        path = f"{self.path}.{key}" if self.path else key
        place = self.node.keys.get(key) if self.node.keys else None
        return Spot(self.node.value[key], path, key, self.findings, place)

    def items(self) -> list[Spot]:
        """The items of a list, or the value itself where one is written without a list."""
        if not isinstance(self.value, list):
            return [self]
        return [self.item(index) for index in range(len(self.value))]

    def item(self, index: int) -> Spot:
        node = self.value[index]
        return Spot(node, f"{self.path}[{index}]", f"{self.label}[{index}]", self.findings, node.place)

    def part(self, value: str, place: Place | None) -> Spot:
        """A piece of what is written here, as a value of its own."""
        return Spot(Node(value, place), self.path, self.label, self.findings, place)

    def wrong(self, code: str, message: str, place: Place | None = None) -> Refused:
        if self.value is not BROKEN or place is not None:
            self.findings.add(code, self.path, message, place or self.node.place)
        return None

    def must(self, wanted: str) -> Refused:
        """Record that the value is not what is wanted."""
        if self.value is None:
            hint = f"write {wanted}, or leave the key out"
            return self.wrong("wrong_type", f"`{self.label}` has no value; {hint}.")
        return self.wrong("wrong_type", f"`{self.label}` must be {wanted}, not {describe(self.node)}.")


Read = Callable[[Spot], Any]


def text(spot: Spot) -> str | None:
    if isinstance(spot.value, str):
        return spot.value
    if isinstance(spot.value, int | float) and not isinstance(spot.value, bool):
        return spot.wrong("wrong_type", f"`{spot.label}` must be text; put it in quotes: '{spot.value}'.")
    return spot.must("text")


def filled(spot: Spot) -> str | None:
    """Text that says something."""
    value = text(spot)
    if value is not None and not value.strip():
        return spot.wrong("wrong_value", f"`{spot.label}` is empty; write something, or leave the key out.")
    return value


def expression(spot: Spot) -> str | None:
    """CEL as text; a bare `true` or number is an expression too, and is kept as its text."""
    if isinstance(spot.value, bool):
        return "true" if spot.value else "false"
    if isinstance(spot.value, int | float):
        return str(spot.value)
    if isinstance(spot.value, str):
        return filled(spot)
    return spot.must("an expression")


def flag(spot: Spot) -> bool | None:
    if isinstance(spot.value, bool):
        return spot.value
    return spot.must("true or false")


def whole(low: int | None = None) -> Read:
    wanted = "a whole number" if low is None else f"a whole number of {low} or more"

    def read(spot: Spot) -> int | None:
        value = spot.value
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or (low is not None and value < low):
            return spot.must(wanted)
        return value

    return read


def number(low: float, high: float | None = None, above: bool = False) -> Read:
    """A reader of numbers of `low` (or above it) up to `high`."""
    least = f"greater than {low:g}" if above else f"of {low:g} or more"
    wanted = f"a number {least}" if high is None else f"a number from {low:g} to {high:g}"

    def read(spot: Spot) -> float | None:
        value = spot.value
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or value < low or (above and value == low) or (high is not None and value > high):
            return spot.must(wanted)
        return float(value)

    return read


def duration(spot: Spot) -> timedelta | None:
    """A duration of 0 or more."""
    if not isinstance(spot.value, str | int | float):
        return spot.must("a duration such as 90s or 15m")
    try:
        return parse_duration(spot.value)
    except ValueError as error:
        return spot.wrong("bad_duration", f"`{spot.label}`: {describe(spot.node)} {error}.")


def long_duration(spot: Spot) -> timedelta | None:
    """A duration above 0: a time-out of 0 would strike at once."""
    found = duration(spot)
    if found is not None and not found:
        message = f"`{spot.label}` must be longer than 0; leave the key out for no limit."
        return spot.wrong("bad_duration", message)
    return found


def choice(*allowed: str) -> Read:
    shape = " or ".join(f"`{each}`" for each in allowed)

    def read(spot: Spot) -> str | None:
        if isinstance(spot.value, str) and spot.value in allowed:
            return spot.value
        if not isinstance(spot.value, str):
            return spot.must(shape)
        near = nearest(spot.value, allowed) if len(allowed) > 2 else None
        hint = f"; did you mean `{near}`?" if near else "."
        return spot.wrong("wrong_value", f"`{spot.label}` must be {shape}, not {describe(spot.node)}{hint}")

    return read


def identifier(what: str) -> Read:
    """A reader of names of workflows, task lists and stores."""

    def read(spot: Spot) -> str | None:
        value = text(spot)
        if value is not None and (wrong := wrong_identifier(value)):
            return spot.wrong("bad_name", f"The name of {what} {wrong}.")
        return value

    return read


def check_name(spot: Spot, name: str, what: str, place: Place | None = None) -> bool:
    """Whether `name` may name a step, event or port; records why not."""
    wrong = wrong_name(name)
    if wrong:
        spot.wrong("bad_name", f"The name of {what} {wrong}.", place)
    return not wrong


def name(what: str, reserved: Collection[str] | None = ()) -> Read:
    """A reader of names of steps, events and ports; of the reserved ones it takes `reserved` (None: all)."""

    def read(spot: Spot) -> str | None:
        value = text(spot)
        if value is None or not check_name(spot, value, what):
            return None
        if reserved is not None and is_reserved(value) and value not in reserved:
            message = f"`{value}` is fired by Penstock itself and cannot name {what}."
            return spot.wrong("reserved_name", message)
        return value

    return read


def listed(read: Read) -> Read:
    """A reader of a list, or of one value without a list: a tuple either way."""

    def read_all(spot: Spot) -> tuple[Any, ...] | None:
        if spot.value is None:
            return spot.must("a name or a list of names")
        found = [read(item) for item in spot.items()]
        return None if None in found else tuple(found)

    return read_all


def json_map(spot: Spot) -> dict[str, Json] | None:
    if isinstance(spot.value, dict):
        found: dict[str, Json] = plain(spot.node)
        return found
    return spot.must("a map")


def map_of(read: Read) -> Read:
    """A reader of maps with free keys, all of one kind of value."""

    def read_all(spot: Spot) -> dict[str, Any] | None:
        if not isinstance(spot.value, dict):
            return spot.must("a map")
        found = {key: read(spot.child(key)) for key in spot.value}
        return {key: value for key, value in found.items() if value is not None}

    return read_all


def json_schema(spot: Spot) -> Json:
    """A JSON Schema that can be used as it is: valid by its meta-schema, no references to other files."""
    if not isinstance(spot.value, dict | bool):
        return spot.must("a JSON Schema, which is a map")
    schema = plain(spot.node)
    if has_strange_dialect(schema):
        return spot.child("$schema").wrong("bad_schema", f"{STRANGE_DIALECT}.")
    if (fault := schema_fault(schema)) is not None:
        return spot.wrong("bad_schema", f"`{spot.label}` is no valid JSON Schema{fault}.")
    return schema


def unknown_kind(spot: Spot, what: str, levels: Collection[str]) -> Refused:
    """Record that the value, the `kind` or `method` of something, is none that there is."""
    near = nearest(str(spot.value), levels)
    hint = f"did you mean `{near}`?" if near else f"it is one of {', '.join(levels)}."
    return spot.wrong("wrong_value", f"{what} {plain(spot.node)!r}; {hint}")


class Level(Struct, frozen=True):
    """The keys a map may have, and how to read each."""

    what: str  # "a step"
    keys: Mapping[str, Read]
    required: tuple[str, ...] = ()
    free: bool = False  # whether `x-...` keys may stand here


def read_level(spot: Spot, level: Level) -> dict[str, Any]:
    """The values of a map's known keys, without those that failed; unknown and missing keys are problems."""
    if not isinstance(spot.value, dict):
        spot.must("a map")
        return {}
    found = {}
    for key in spot.value:
        if key in level.keys:
            if (value := level.keys[key](spot.child(key))) is not None:
                found[key] = value
        elif not (level.free and key.startswith("x-")):
            child = spot.child(key)
            child.wrong("unknown_key", unknown_key(spot, key, level), child.key_place)
    for key in level.required:
        if key not in spot.value:
            spot.wrong("missing_key", f"{level.what.capitalize()} needs the key `{key}`.", spot.key_place)
    return found


def unknown_key(spot: Spot, key: str, level: Level) -> str:
    """The sentence about a key that is not known at this level."""
    if key.startswith("x-"):
        return (
            f"`{key[:40]}` cannot stand in {level.what}: keys that begin with `x-` belong to the top level."
        )
    home = spot.findings.elsewhere.get(key)
    if home:
        return f"`{key}` is a key of {home}, not of {level.what}."
    near = nearest(key, level.keys)
    if near:
        return f"Unknown key {shown(key)} in {level.what}; did you mean `{near}`?"
    return f"Unknown key {shown(key)} in {level.what}; known are: {', '.join(level.keys)}."
