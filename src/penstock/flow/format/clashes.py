"""Names fired by two things (R3): a step's own events may not be listed, declared or name another step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from penstock.flow.format.fields import Spot
from penstock.flow.format.nodes import Place
from penstock.flow.model.definition import External, Step


class _Use(Struct, frozen=True):
    """A place that gives a name to an event or a step."""

    name: str
    spot: Spot
    place: Place | None
    says: str  # how the sentence begins
    remedy: str


def check_clashes(root: Spot, steps: dict[str, Step], external: Sequence[External]) -> None:
    """Record every name that is a step's own event and something else too, naming both places."""
    at = root.child("steps")
    owners = {f"{name}.{port}": name for name, step in steps.items() for port in _ports(step)}
    for use in _step_names(at, steps):
        _compare(use, owners, at)
    owners.update({name: name for name in steps})
    for use in (*_listed(at, steps), *_declared(root, external)):
        _compare(use, owners, at)


def _ports(step: Step) -> set[str]:
    return {"done", "failed", *(step.emits or ())}


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
