"""What starts runs (`source`) and what comes from outside (`external`), out of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.flow.format import fields
from penstock.flow.format.fields import Level, Read, Spot, read_level, unknown_key, unknown_kind
from penstock.flow.format.verify_parser import read_verify
from penstock.flow.model.definition import External, From, Json, Source
from penstock.flow.values.schedule import SHORTEST, cron_problem, zone_problem


def _every(spot: Spot) -> Json:
    found = fields.long_duration(spot)
    if found is not None and found < SHORTEST:
        return spot.wrong("bad_duration", "`every` must be 1s or longer.")
    return spot.value if found is not None else None


def _sound(problem: Callable[[str], str | None]) -> Read:
    """Text that nothing is wrong with."""

    def read(spot: Spot) -> str | None:
        value = fields.filled(spot)
        told = None if value is None else problem(value)
        return value if told is None else spot.wrong("wrong_value", told)

    return read


_cron, _zone = _sound(cron_problem), _sound(zone_problem)


def _events(spot: Spot) -> list[str] | None:
    read = fields.choice("created", "deleted")
    found = [read(item) for item in spot.items()]
    if not found or len(set(found)) < len(found):
        spot.wrong("wrong_value", "`events` must list `created`, `deleted` or both, each once.")
    return found


_KIND = {"kind": lambda spot: spot.value}
_STORE: dict[str, Read] = {"store": fields.identifier("a store"), "prefix": fields.filled}
_REQUEST: dict[str, Read] = {
    "where": fields.expression,
    "subject": fields.expression,
    "input": fields.expression,
    "id": fields.expression,
}
_BUS: dict[str, Read] = {"bus": fields.filled, "topic": fields.filled}

SOURCES: dict[str, Level] = {
    "api": Level("a source of kind `api`", _KIND),
    "object": Level(
        "a source of kind `object`",
        {
            **_KIND,
            **_STORE,
            "suffix": fields.filled,
            "glob": fields.filled,
            "where": fields.expression,
            "events": _events,
        },
        ("store",),
    ),
    "search": Level(
        "a source of kind `search`",
        {**_KIND, **_STORE, "glob": fields.filled, "where": fields.expression, "cron": _cron, "tz": _zone},
        ("store", "cron"),
    ),
    "schedule": Level(
        "a source of kind `schedule`",
        {
            **_KIND,
            "cron": _cron,
            "every": _every,
            "tz": _zone,
            "overrun": fields.choice("skip", "start", "abort", "delay", "delay_until_success"),
            "max_running": fields.whole(1),
            "catch_up": fields.choice("none", "latest", "all"),
        },
    ),
    "webhook": Level("a source of kind `webhook`", {**_KIND, "verify": read_verify, **_REQUEST}, ("verify",)),
    "topic": Level("a source of kind `topic`", {**_KIND, **_BUS, **_REQUEST}, ("bus", "topic")),
}

_FROM: dict[str, Read] = {
    "where": fields.expression,
    "key": fields.map_of(fields.expression),
    "data": fields.expression,
    "set": fields.expression,
    "id": fields.expression,
}
FROM: dict[str, Level] = {
    "webhook": Level("`from` of kind `webhook`", {**_KIND, "verify": read_verify, **_FROM}),
    "topic": Level(
        "`from` of kind `topic`", {**_KIND, "verify": read_verify, **_BUS, **_FROM}, ("bus", "topic")
    ),
}


def read_source(spot: Spot) -> Source | None:
    """The source, with the keys of its kind checked."""
    if isinstance(spot.value, list):
        message = "A workflow has exactly one source: write a map such as {kind: api}, not a list."
        return spot.wrong("wrong_type", message)
    found = _of_kind(spot, SOURCES, "a source")
    if found is None:
        return None
    kind = found.pop("kind")
    if kind == "schedule" and ("cron" in spot.value) == ("every" in spot.value):
        message = "A source of kind `schedule` needs either `cron` or `every`."
        spot.wrong("wrong_value", message, spot.key_place)
    return Source(kind=kind, options=found)


def _of_kind(spot: Spot, levels: dict[str, Level], what: str) -> dict[str, Any] | None:
    """The keys of a map whose `kind` says which keys it has."""
    if not isinstance(spot.value, dict):
        return spot.must("a map such as {kind: " + next(iter(levels)) + "}")
    if "kind" not in spot.value:
        message = f"{what.capitalize()} needs the key `kind`: one of {', '.join(levels)}."
        spot.wrong("missing_key", message, spot.key_place)
        everything = Level(what, {key: read for level in levels.values() for key, read in level.keys.items()})
        for key in spot.value:
            if key not in everything.keys:
                child = spot.child(key)
                child.wrong("unknown_key", unknown_key(spot, key, everything), child.key_place)
        return None
    at = spot.child("kind")
    if not isinstance(at.value, str) or at.value not in levels:
        return unknown_kind(at, f"{what.capitalize()} has no kind", levels)
    return read_level(spot, levels[at.value])


def _from(spot: Spot) -> From | None:
    found = _of_kind(spot, FROM, "`from`")
    return None if found is None else From(**found)


MAX_EVENTS = 2_000
"""Each is a place of the net, in every state that the proof keeps: with twenty thousand it would take gigabytes."""

EXTERNAL = Level(
    "an external event",
    {
        "name": fields.name("an external event"),
        "many": fields.flag,
        "optional": fields.flag,
        "schema": fields.json_schema,
        "from": _from,
    },
    ("name",),
)


def read_external(spot: Spot) -> tuple[External, ...] | None:
    """Every external event; a name that is declared twice is a problem."""
    if not isinstance(spot.value, list):
        return spot.must("a list of events")
    if len(spot.value) > MAX_EVENTS:
        message = f"There are {len(spot.value)} external events; {MAX_EVENTS} at most: split the workflow."
        return spot.wrong("too_many", message, spot.key_place)
    found: list[External] = []
    seen: dict[str, str] = {}
    for item in spot.items():
        event = _external(item)
        if event is None:
            continue
        if event.name in seen:
            first = seen[event.name]
            message = f"The external event `{event.name}` is declared twice, first {first}; keep one."
            item.wrong("duplicate", message)
        place = item.node.place
        seen.setdefault(event.name, f"on line {place[0]}" if place else f"at {item.path}")
        found.append(event)
    return tuple(found)


def _external(spot: Spot) -> External | None:
    if isinstance(spot.value, str):
        found = EXTERNAL.keys["name"](spot)
        return External(name=found) if found is not None else None
    if not isinstance(spot.value, dict):
        return spot.must("a name or a map")
    keys = read_level(spot, EXTERNAL)
    if "from" in keys:
        keys["from_"] = keys.pop("from")
    return External(**keys) if "name" in keys else None
