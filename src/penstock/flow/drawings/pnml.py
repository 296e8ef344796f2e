"""The net as PNML (ISO/IEC 15909-2), a place/transition net that other Petri-net tools read.

Places are the slots, one place for START and one for each outside event; transitions are the pairs of step
and port, the beginning, and the coming of each outside event. What a place/transition net cannot say (`need`,
`match`, `cancels`, the names of events) stands in `toolspecific` elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count

from msgspec import Struct

from penstock.flow.drawings.nodes import xml
from penstock.kernel.net import START, Exit, Net, Slot, Step

_GRAMMAR = "http://www.pnml.org/version-2009/grammar/pnml"
_TYPE = "http://www.pnml.org/version-2009/grammar/ptnet"
_TOOL = '<toolspecific tool="penstock" version="1">'


class _Place(Struct):
    id: str
    name: str
    tokens: int
    more: str


class _Transition(Struct):
    id: str
    name: str
    takes: dict[str, int]
    puts: dict[str, int]
    more: str


def to_pnml(net: Net) -> str:
    """The whole net; the same net gives the same text."""
    slots = {(step.name, index): f"p{number}" for number, (step, index) in enumerate(_slots(net), 1)}
    places = [_slot_place(slots[step.name, index], step, index) for step, index in _slots(net)]
    transitions: list[_Transition] = []
    sources = [(START, False, False), *((event.name, event.many, event.optional) for event in net.outside)]
    for number, (name, many, optional) in enumerate(sources, 1):
        place = f"o{number}"
        places.append(_Place(place, name, 1, _source_notes(name, many, optional)))
        puts = _puts(net, slots, (name,))
        puts |= {place: 1} if many else {}
        transitions.append(_Transition(f"a{number}", name, {place: 1}, puts, ""))
    numbers = count(1)
    for step in net.steps:
        takes = {slots[step.name, index]: slot.wanted for index, slot in enumerate(step.slots)}
        for way in step.exits:
            name = step.name if way.port is None else f"{step.name}.{way.port}"
            puts = _puts(net, slots, way.fires)
            transitions.append(_Transition(f"t{next(numbers)}", name, takes, puts, _notes(step, way)))
    return "\n".join(_document(places, transitions)) + "\n"


def _slots(net: Net) -> list[tuple[Step, int]]:
    return [(step, index) for step in net.steps for index in range(len(step.slots))]


def _puts(net: Net, slots: dict[tuple[str, int], str], fired: Iterable[str]) -> dict[str, int]:
    """How many events each slot gets: one for every name that is fired and that it takes."""
    names = dict.fromkeys(fired)
    puts: Counter[str] = Counter()
    for step, index in _slots(net):
        arrivals = sum(name in step.slots[index].events for name in names)
        if arrivals:
            puts[slots[step.name, index]] += arrivals
    return dict(puts)


def _slot_place(identity: str, step: Step, index: int) -> _Place:
    slot: Slot = step.slots[index]
    events = "".join(f"<event>{xml(name)}</event>" for name in slot.events)
    need = f' need="{slot.need}" rest="{"keep" if slot.keep else "drop"}"' if slot.need else ""
    more = f'{_TOOL}<slot step="{xml(step.name)}" index="{index}"{need}>{events}</slot></toolspecific>'
    return _Place(identity, f"{step.name} waits for {' | '.join(slot.events)}", 0, more)


def _source_notes(name: str, many: bool, optional: bool) -> str:
    if name == START:
        return ""
    flags = "".join(f' {word}="true"' for word, holds in (("many", many), ("optional", optional)) if holds)
    return f"{_TOOL}<outside{flags}/></toolspecific>"


def _notes(step: Step, way: Exit) -> str:
    """Who fires what on this port, and what the step withdraws when it begins."""
    port = "" if way.port is None else f' port="{xml(way.port)}"'
    failure = ' failure="true"' if way.failure else ""
    keyed = ' match="true"' if step.keyed else ""
    fires = "".join(f"<fires>{xml(name)}</fires>" for name in way.fires)
    resets = "".join(f"<cancels>{xml(name)}</cancels>" for name in step.cancels)
    return f'{_TOOL}<exit step="{xml(step.name)}"{port}{failure}{keyed}>{fires}{resets}</exit></toolspecific>'


def _document(places: list[_Place], transitions: list[_Transition]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<pnml xmlns="{_GRAMMAR}">'
    yield f'<net id="net" type="{_TYPE}"><page id="page">'
    for place in places:
        tokens = f"<initialMarking><text>{place.tokens}</text></initialMarking>" if place.tokens else ""
        yield f'<place id="{place.id}">{_name(place.name)}{tokens}{place.more}</place>'
    for transition in transitions:
        yield f'<transition id="{transition.id}">{_name(transition.name)}{transition.more}</transition>'
    for transition in transitions:
        for place_id, weight in transition.takes.items():
            yield _arc(place_id, transition.id, weight)
        for place_id, weight in transition.puts.items():
            yield _arc(transition.id, place_id, weight)
    yield "</page></net>"
    yield "</pnml>"


def _name(name: str) -> str:
    return f"<name><text>{xml(name)}</text></name>"


def _arc(source: str, target: str, weight: int) -> str:
    inscription = f"<inscription><text>{weight}</text></inscription>" if weight > 1 else ""
    return f'<arc id="{source}-{target}" source="{source}" target="{target}">{inscription}</arc>'
