"""Workflow definitions out of YAML text, JSON text or decoded JSON: the model, or every problem at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from penstock.flow.format import fields
from penstock.flow.format.fields import Level, Spot, check_name, read_level
from penstock.flow.format.nodes import (
    Findings,
    Node,
    Place,
    PlainTree,
    check_text,
    describe,
    plain,
    read_json_text,
)
from penstock.flow.format.notify_parser import NOTICE, read_notify
from penstock.flow.format.source_parser import (
    EXTERNAL,
    FROM,
    MAX_EVENTS,
    SOURCES,
    read_external,
    read_source,
)
from penstock.flow.format.step_parser import (
    BACKOFF,
    SLOT,
    STEP,
    TIMEOUTS,
    check_cancels,
    read_policy,
    read_step,
)
from penstock.flow.format.yaml_text import read_yaml_text
from penstock.flow.model.definition import Definition, External, Json, Step
from penstock.flow.model.names import is_reserved

FORMAT = 1
MAX_STEPS = 500


class Located(Struct, frozen=True):
    """A definition and where everything in it stands."""

    definition: Definition
    places: dict[str, Place]  # path -> place of its key, or of the item of a list
    values: dict[str, Place]  # path -> place of its value

    def place(self, path: str) -> Place | None:
        """The place of `path`, or of the nearest thing around it that is written down."""
        while path and path not in self.places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.places.get(path)


def read_definition(text: str, file: str | None = None) -> Definition:
    """The definition that a YAML or JSON text holds. Raises DefinitionError with every problem."""
    definition, _ = _read(text, file)
    return definition


def read_located(text: str, file: str | None = None, unfinished: bool = False) -> Located:
    """The same, with the line and column of every key and value; what is `unfinished` may have no step yet."""
    definition, root = _read(text, file, unfinished)
    places: dict[str, Place] = {}
    values: dict[str, Place] = {}
    _locate(root, "", places, values)
    for found in (places, values):
        _locate_short_forms(definition, found)
    return Located(definition, places, values)


def from_plain(value: Json, unfinished: bool = False) -> Definition:
    """The definition that decoded JSON holds. Raises DefinitionError; its problems have paths, not lines."""
    findings = Findings(elsewhere=ELSEWHERE, unfinished=unfinished)
    return _definition(PlainTree(findings).node(value), findings)


def _read(text: str, file: str | None, unfinished: bool = False) -> tuple[Definition, Node]:
    findings = Findings(file, ELSEWHERE, unfinished)
    text = check_text(text, findings)
    root = (read_json_text if text.lstrip().startswith("{") else read_yaml_text)(text, findings)
    return _definition(root, findings), root


def _locate(node: Node, path: str, places: dict[str, Place], values: dict[str, Place]) -> None:
    if node.place:
        values[path] = node.place
        places.setdefault(path, node.place)
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            inner = f"{path}.{key}" if path else key
            if node.keys:
                places[inner] = node.keys[key]
            _locate(child, inner, places, values)
    elif isinstance(node.value, list):
        for index, child in enumerate(node.value):
            _locate(child, f"{path}[{index}]", places, values)


def _locate_short_forms(definition: Definition, places: dict[str, Place]) -> None:
    """Give short forms the paths of the long ones too, so that a check need not know how it was written."""
    for name in definition.steps:
        step = f"steps.{name}"
        for short, long in (("fails", "emits.failed"), ("emits", "emits.done"), ("after", "after[0]")):
            if f"{step}.{short}" in places:
                places.setdefault(f"{step}.{long}", places[f"{step}.{short}"])


def _format(spot: Spot) -> int | None:
    if spot.value == FORMAT and isinstance(spot.value, int) and not isinstance(spot.value, bool):
        return FORMAT
    message = f"This Penstock reads format {FORMAT}: write `penstock: {FORMAT}`, not {describe(spot.node)}."
    return spot.wrong("unknown_format", message)


def _steps(spot: Spot) -> dict[str, Step] | None:
    if not isinstance(spot.value, dict):
        return spot.must("a map of steps")
    if not spot.value and spot.findings.unfinished:
        return {}
    if not spot.value:
        return spot.wrong(
            "wrong_value", "`steps` is empty; a workflow has at least one step.", spot.key_place
        )
    if len(spot.value) > MAX_STEPS:
        message = f"`steps` has {len(spot.value)} steps; {MAX_STEPS} at most: split the workflow."
        return spot.wrong("too_many", message, spot.key_place)
    found = {}
    for name in spot.value:
        child = spot.child(name)
        if check_name(child, name, "a step", child.key_place) and is_reserved(name):
            message = f"`{name}` is an event that Penstock itself fires and cannot name a step."
            child.wrong("reserved_name", message, child.key_place)
        step = read_step(child)
        if step is not None:
            found[name] = step
    slots = sum(len(slot.events) for step in found.values() for slot in step.after or ())
    emits = sum(len(events) for step in found.values() for events in (step.emits or {}).values())
    for does, entries in (("wait for", slots), ("fire", emits)):
        if entries > MAX_EVENTS:
            message = f"The steps {does} {entries} events in all; {MAX_EVENTS} at most: split the workflow."
            spot.wrong("too_many", message, spot.key_place)
    return found


WORKFLOW = Level(
    "the workflow",
    {
        "penstock": _format,
        "name": fields.identifier("a workflow"),
        "title": fields.text,
        "description": fields.text,
        "source": read_source,
        "external": read_external,
        "params": fields.json_schema,
        "result": fields.expression,
        "defaults": read_policy,
        "timeout": fields.long_duration,
        "cleanup_timeout": fields.long_duration,
        "on_failure": fields.choice("fail", "continue"),
        "endless": fields.flag,
        "max_running": fields.whole(1),
        "retention": fields.long_duration,
        "labels": fields.map_of(fields.text),
        "notify": read_notify,
        "steps": _steps,
        "view": fields.json_map,
    },
    ("name", "steps"),
    free=True,
)


def _definition(root: Node, findings: Findings) -> Definition:
    spot = Spot(root, "", "definition", findings, root.place)
    if not isinstance(root.value, dict):
        message = f"A definition is a map of keys such as `name` and `steps`, not {describe(root)}."
        raise findings.stop("wrong_type", message, root.place)
    found = read_level(spot, WORKFLOW)
    if "penstock" not in root.value:
        findings.add(
            "missing_key", "", f"Say `penstock: {FORMAT}` at the top: the format this file is in.", root.place
        )
    if "steps" in found:
        check_cancels(spot.child("steps"), found["steps"])
        _check_clashes(spot, found["steps"], found.get("external") or ())
    if findings.problems:
        raise findings.error()
    extra = {key: plain(node) for key, node in root.value.items() if key.startswith("x-")}
    return Definition(extra=extra, **found)


def _elsewhere() -> dict[str, str]:
    """Each key and the level it belongs to; of several levels the most likely."""
    levels: list[tuple[str, Mapping[str, Any]]] = [
        ("a step", STEP.keys),
        ("the workflow", WORKFLOW.keys),
        ("`timeouts`", TIMEOUTS.keys),
        ("`backoff`", BACKOFF.keys),
        ("an entry of `external`", EXTERNAL.keys),
        ("a slot of `after`", SLOT.keys),
        *((level.what, level.keys) for level in SOURCES.values()),
        *((level.what, level.keys) for level in FROM.values()),
        (NOTICE.what, NOTICE.keys),
    ]
    found: dict[str, str] = {}
    for what, keys in levels:
        for key in keys:
            found.setdefault(key, what)
    return found


ELSEWHERE = _elsewhere()


# -- names fired by two things (R3): a step's own events may not be listed, declared or name another step ---


class _Use(Struct, frozen=True):
    """A place that gives a name to an event or a step."""

    name: str
    spot: Spot
    place: Place | None
    says: str  # how the sentence begins
    remedy: str


def _check_clashes(root: Spot, steps: dict[str, Step], external: Sequence[External]) -> None:
    """Record every name that is a step's own event and something else too, naming both places."""
    at = root.child("steps")
    owned = ((name, port) for name, step in steps.items() for port in ("done", "failed", *(step.emits or ())))
    owners = {f"{name}.{port}": name for name, port in owned}
    for use in _step_names(at, steps):
        _compare(use, owners, at)
    owners.update({name: name for name in steps})
    for use in (*_listed(at, steps), *_declared(root, external)):
        _compare(use, owners, at)


def _compare(use: _Use, owners: dict[str, str], steps: Spot) -> None:
    owner = owners.get(use.name)
    if owner is not None:
        place = steps.child(owner).key_place
        line = f" (line {place[0]})" if place else ""
        when = "when it is done" if owner == use.name else "by itself"
        message = f"{use.says}, but step `{owner}`{line} fires that event {when}; {use.remedy}."
        use.spot.wrong("clash", message, use.place)


def _step_names(steps: Spot, found: dict[str, Step]) -> Iterator[_Use]:
    for name in found:
        spot = steps.child(name)
        yield _Use(name, spot, spot.key_place, f"A step is named `{name}` here", "rename one of the two")


def _listed(steps: Spot, found: dict[str, Step]) -> Iterator[_Use]:
    for step in (steps.child(name) for name in found):
        for spot in (step.child(key) for key in ("emits", "fails") if key in step.value):
            ports = [spot.child(port) for port in spot.value] if isinstance(spot.value, dict) else [spot]
            for item in (item for port in ports for item in port.items()):
                if isinstance(item.value, str):
                    says = f"`{item.value}` is listed here"
                    yield _Use(item.value, item, item.node.place, says, "leave it out or rename it")


def _declared(root: Spot, external: Sequence[External]) -> Iterator[_Use]:
    for item in root.child("external").items() if external else ():
        spot = item.child("name") if isinstance(item.value, dict) and "name" in item.value else item
        if isinstance(spot.value, str):
            says = f"`{spot.value}` is declared external here"
            yield _Use(spot.value, spot, spot.node.place, says, "give the outside event another name")
