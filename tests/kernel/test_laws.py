"""Laws of the kernel on random nets: against a plain model, against SNAKES, and awake for planted bugs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import snakes.nets as snakes

from penstock.kernel.firing import MutableMarking, begin, enabled, fire
from penstock.kernel.marking import Marking, Token
from penstock.kernel.net import START, Exit, Net, Slot, Step, Wiring
from tests.kernel.model import Model

EVENTS = [START, "a", "b", "c", "d"]


def random_slot(chance: random.Random, plain: bool) -> Slot:
    if plain or chance.random() < 0.4:
        return Slot((chance.choice(EVENTS),))
    names = tuple(chance.sample(EVENTS, chance.randint(2, 3)))
    if chance.random() < 0.4:
        return Slot(names)
    return Slot(names, chance.randint(1, len(names)), keep=chance.random() < 0.3)


def random_net(chance: random.Random, plain: bool = False) -> Net:
    steps = []
    for number in range(chance.randint(1, 5)):
        slots = tuple(random_slot(chance, plain) for _ in range(chance.randint(1, 3)))
        fires = tuple(chance.sample(EVENTS[1:], chance.randint(0, 2)))
        steps.append(
            Step(f"s{number}", slots, (Exit("done", fires),), keyed=not plain and chance.random() < 0.3)
        )
    if not plain:
        last = steps[-1]
        steps[-1] = Step(last.name, last.slots, last.exits, ("s0",) if len(steps) > 1 else (), last.keyed)
    return Net(tuple(steps))


def compare(board: MutableMarking, model: Model, marking: Marking) -> None:
    """The board's kept indexes say what the model finds by looking at everything."""
    wiring = board.wiring
    waiting: Counter[tuple[str, int, int]] = Counter()
    for place, tokens in marking.tokens.items():
        slot = wiring.slots[place if isinstance(place, int) else place[0]]
        for token in tokens:
            waiting[wiring.steps[slot.step].name, slot.position, token.number] += 1
    expected = Counter((*place, event[0]) for place, queue in model.waiting.items() for event in queue)
    assert waiting == expected
    found = {
        step.name: [key for _, key in board.complete.get(step.index, ())] if step.keyed else [""]
        for step in wiring.steps
        if board.enabled(step)
    }
    assert found == model.enabled()
    debts = sum(marking.owed.values())
    assert debts == len(model.owed)


def play(seed: int, moves: int = 25) -> None:
    """Random events, firings and resets on a random net, board and model side by side."""
    chance = random.Random(seed)
    net = random_net(chance)
    wiring, model = Wiring(net), Model(net)
    board = MutableMarking(wiring)
    dropped: list[int] = []
    for number in range(1, moves):
        ready = [step for step in wiring.steps if board.enabled(step)]
        if ready and chance.random() < 0.45:
            step = chance.choice(ready)
            taken = board.take(step)
            assert [[token.number for token in slot] for slot in taken.slots] == model.fire(step.name)
            dropped += [token.number for _, token in taken.dropped]
            for other in step.cancels:
                board.clear(wiring.steps[other])
                model.clear(wiring.steps[other].name)
        else:
            event = (number, chance.choice(EVENTS), chance.choice(["x", "y", ""]))
            board.put(Token(number, event[1], event[2]), lambda step, token: token.load or None)
            model.put(event)
            dropped += [token.number for _, token in board.dropped]
            board.dropped = ()
        marking = board.marking()
        board = MutableMarking(wiring, marking)
        compare(board, model, marking)
    assert sorted(dropped) == sorted(model.dropped)


@pytest.mark.parametrize("seed", range(300))
def test_the_kernel_does_what_the_plain_model_does(seed: int) -> None:
    play(seed)


def as_snakes(net: Net) -> snakes.PetriNet:
    """The net for SNAKES: a place a slot, a transition a step."""
    made = snakes.PetriNet("n")
    slots = {(step.name, at): slot for step in net.steps for at, slot in enumerate(step.slots)}
    for name, at in slots:
        made.add_place(snakes.Place(f"{name}.{at}", [snakes.dot] * (START in slots[name, at].events)))
    for step in net.steps:
        made.add_transition(snakes.Transition(step.name))
        for at, _ in enumerate(step.slots):
            made.add_input(f"{step.name}.{at}", step.name, snakes.Value(snakes.dot))
        for (name, at), slot in slots.items():
            copies = sum(event in slot.events for event in step.exits[0].fires)
            if copies:
                arc = snakes.MultiArc([snakes.Value(snakes.dot)] * copies)
                made.add_output(f"{name}.{at}", step.name, arc)
    return made


@pytest.mark.parametrize("seed", range(100))
def test_plain_nets_fire_as_in_snakes(seed: int) -> None:
    chance = random.Random(seed)
    net = random_net(chance, plain=True)
    wiring, oracle = Wiring(net), as_snakes(net)
    marking = begin(wiring)

    for number in range(15):
        ready = [step.name for step in net.steps if oracle.transition(step.name).modes()]
        assert enabled(wiring, marking) == ready
        counts = {
            f"{wiring.steps[slot.step].name}.{slot.position}": len(marking.tokens.get(slot.index, ()))
            for slot in wiring.slots
        }
        assert counts == {place.name: len(place.tokens) for place in oracle.place()}
        if not ready:
            break
        step = chance.choice(ready)
        oracle.transition(step).fire(oracle.transition(step).modes()[0])
        marking = fire(wiring, marking, step, "done", 10 * number)


def newest_first(board: MutableMarking, slot: Any, key: Any, dropped: Any) -> Any:
    place = slot.index if key is None else (slot.index, key)
    queue = board.tokens[place]
    board.tokens[place] = tuple(reversed(queue))
    return REAL_DRAW(board, slot, key, dropped)


REAL_DRAW, REAL_PUT, REAL_CLEAR = MutableMarking._draw, MutableMarking.put, MutableMarking.clear


def put_once(board: MutableMarking, token: Token, key_of: Any = None) -> None:
    wiring = board.wiring
    seen: set[int] = set()
    for slot in wiring.takers.get(token.name, ()):
        key = key_of(wiring.steps[slot.step], token) if slot.keyed else None
        if slot.step not in seen and (key is not None or not slot.keyed):
            seen.add(slot.step)
            board.add(slot, token, key)


PLANTED: dict[str, tuple[str, Callable[..., Any]]] = {
    "a firing takes the newest": ("_draw", newest_first),
    "a step gets one copy, not one a slot": ("put", put_once),
    "nothing is owed": ("_owe", lambda board, place, name, change: None),
    "a debt is never paid": ("_swallows", lambda board, place, name: False),
    "what waits is not dropped with its round": ("_settle_round", lambda board, s, p, chosen, rest, d: rest),
    "a drained slot still counts as filled": ("_drain", lambda board, slot, key: None),
    "cancelling leaves the events": ("clear", lambda board, step: []),
    "keys fire in alphabetical order": (
        "_complete",
        lambda board, step, key, number: board._reorder(
            step, tuple(sorted({*board.complete.get(step, ()), (0, key)}))
        ),
    ),
    "a key is forgotten while it is complete": (
        "_requeue",
        lambda board, step, key: board._forget(step.index, key),
    ),
    "one slot is enough": (
        "enabled",
        lambda board, step: any(slot.index in board.tokens for slot in step.slots),
    ),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wrong = PLANTED[bug]
    monkeypatch.setattr(MutableMarking, name, wrong)

    with pytest.raises((AssertionError, KeyError, IndexError)):
        for seed in range(300):
            play(seed)
