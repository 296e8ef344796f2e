"""PNML: read back, it is the same net."""

from __future__ import annotations

import warnings
from collections import Counter
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.flow.drawing.workflows import decision, fork_join, loop, mediathread, net_of, zenko

from penstock.flow.drawings import to_pnml
from penstock.flow.model.definition import Definition
from penstock.kernel.net import START, Exit, Net, Outside, Slot, Step

Incidence = tuple[Counter[str], Counter[str]]
PNML = "{http://www.pnml.org/version-2009/grammar/pnml}"


def expected(net: Net) -> dict[str, Incidence]:
    """What each transition takes and puts, by the rules of firing."""
    slots = [(step, index, slot) for step in net.steps for index, slot in enumerate(step.slots)]

    def puts(fires: tuple[str, ...]) -> Counter[str]:
        return Counter(
            f"{step.name}[{index}]"
            for step, index, slot in slots
            for name in set(fires)
            if name in slot.events
        )

    found = {}
    for name, many in [(START, False), *((event.name, event.many) for event in net.outside)]:
        found[name] = (Counter([name]), puts((name,)) + Counter([name] if many else []))
    for step in net.steps:
        takes = Counter({f"{step.name}[{index}]": slot.wanted for index, slot in enumerate(step.slots)})
        for way in step.exits:
            found[step.name if way.port is None else f"{step.name}.{way.port}"] = (takes, puts(way.fires))
    return found


def read(text: str) -> tuple[dict[str, Incidence], dict[str, int]]:
    """The transitions and the marking of a PNML file, as any reader sees them; slots named as above."""
    root = ElementTree.fromstring(text)
    names, marking = {}, {}
    for place in root.iter(f"{PNML}place"):
        slot = place.find(f"{PNML}toolspecific/{PNML}slot")
        plain = place.findtext(f"{PNML}name/{PNML}text", "")
        names[place.get("id")] = plain if slot is None else f"{slot.get('step')}[{slot.get('index')}]"
        tokens = int(place.findtext(f"{PNML}initialMarking/{PNML}text", "0"))
        if tokens:
            marking[plain] = tokens
    found: dict[str, Incidence] = {}
    ids = {}
    for transition in root.iter(f"{PNML}transition"):
        name = transition.findtext(f"{PNML}name/{PNML}text", "")
        ids[transition.get("id")] = name
        found[name] = (Counter(), Counter())
    for arc in root.iter(f"{PNML}arc"):
        weight = int(arc.findtext(f"{PNML}inscription/{PNML}text", "1"))
        source, target = arc.get("source"), arc.get("target")
        if source in names:
            found[ids[target]][0][names[source]] += weight
        else:
            found[ids[source]][1][names[target]] += weight
    return found, marking


@pytest.mark.parametrize(
    "definition",
    [mediathread(), decision(), loop(), zenko(), fork_join(3, 2)],
    ids=lambda definition: definition.title,
)
def test_read_back_it_is_the_same_net(definition: Definition) -> None:
    net = net_of(definition)

    transitions, marking = read(to_pnml(net))

    assert transitions == expected(net)
    assert marking == dict.fromkeys([START, *net.outside_names()], 1)


def snakes_net(text: str) -> Any:
    """The net as SNAKES reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # SNAKES imports `imp`
        return import_module("snakes.pnml").loads(text)


def test_another_reader_plays_the_same_token_game() -> None:
    net = snakes_net(to_pnml(net_of(loop())))
    names = ["a1", "t1", "t4", "t1", "t3", "t6"]  # START, draft, rejected, draft, approved, publish

    for name in names:
        [binding] = net.transition(name).modes()
        net.transition(name).fire(binding)

    assert {place.name: len(place.tokens) for place in net.place() if place.tokens} == {"o2": 1}


def test_an_event_that_comes_again_and_again_keeps_its_token() -> None:
    net = Net((Step("a", (Slot(("ping",)),), (Exit("done"),)),), (Outside("ping", many=True),))

    transitions, _ = read(to_pnml(net))

    assert transitions["ping"] == (Counter(["ping"]), Counter(["ping", "a[0]"]))


def test_a_slot_that_takes_two_events_of_one_port_gets_two() -> None:
    net = Net(
        (
            Step("a", (Slot((START,)),), (Exit("done", ("x", "y", "a")),)),
            Step("b", (Slot(("x", "y")),), (Exit(None),)),
        )
    )

    transitions, _ = read(to_pnml(net))

    assert transitions["a.done"] == (Counter(["a[0]"]), Counter({"b[0]": 2}))
    assert transitions["b"] == (Counter(["b[0]"]), Counter())


def test_what_a_place_transition_net_cannot_say_is_kept_for_penstock() -> None:
    slot = Slot(("x", "<y>"), need=2, keep=True)
    net = Net(
        (Step("a", (slot,), (Exit("failed", ("FAIL",), failure=True),), cancels=("b",), keyed=True),),
        (Outside("x", optional=True),),
    )

    text = to_pnml(net)

    assert (
        '<slot step="a" index="0" need="2" rest="keep"><event>x</event><event>&lt;y&gt;</event></slot>'
        in text
    )
    assert (
        '<exit step="a" port="failed" failure="true" match="true">'
        "<fires>FAIL</fires><cancels>b</cancels></exit>" in text
    )
    assert '<outside optional="true"/>' in text


def test_every_id_is_unique_and_the_text_always_the_same() -> None:
    text = to_pnml(net_of(mediathread()))

    ids = [element.get("id") for element in ElementTree.fromstring(text).iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert text == to_pnml(net_of(mediathread()))
