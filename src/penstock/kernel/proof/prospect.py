"""Whether a run can still end from where it is: the search of the proof, begun at any marking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from penstock.kernel.marking import Marking, Token
from penstock.kernel.net import Wiring
from penstock.kernel.proof.machine import Machine, Scope, choices, starving
from penstock.kernel.proof.search import Budget, Space, can_reach, shape_of, survey
from penstock.kernel.proof.soundness import MAX_CHOICES

Verdict = Literal["ends", "may_stall", "stalls", "unknown"]
"""It ends whatever comes, it can end and can get stuck, it can only get stuck, or it cannot be told."""


class Here(Struct, frozen=True, kw_only=True):
    """A run at one moment. Firings under way count as not begun: what they took waits again.

    `begun` are those of steps with `cancels`, by index, whose cancels are done.
    """

    marking: Marking
    came: frozenset[str] = frozenset()
    ok: bool = False
    put_off: bool = False
    begun: frozenset[int] = frozenset()


class Prospect(Struct, frozen=True):
    """What can become of a run; `starving` are steps that may wait in vain, with what they then miss."""

    outlook: Verdict
    starving: dict[str, tuple[str, ...]] = {}
    states: int = 0


UNKNOWN = Prospect("unknown")


def prospect(wiring: Wiring, here: Here, budget: Budget, outside: Callable[[Token], bool]) -> Prospect:
    """What can become of a run that is `here`; `outside` says whether a token came from outside."""
    net = wiring.net
    keyed = any(isinstance(place, tuple) for place in here.marking.tokens)
    if keyed or choices(net) > MAX_CHOICES:
        return UNKNOWN  # the counts know no keys: they would bring together what never meets
    shape = shape_of(net)
    machine = Machine(net, Scope(drop_put_off=not shape.turning))
    machine.initial = machine.settle(_state(machine, wiring, here, outside))
    return _prospect_of(survey(machine, shape, budget))


def _state(machine: Machine, wiring: Wiring, here: Here, outside: Callable[[Token], bool]) -> tuple[int, ...]:
    counts = [0] * machine.size
    spots = {(place.step, place.slot): [] for place in machine.places}  # type: dict[tuple[int, int], list[int]]
    for number, place in enumerate(machine.places):
        spots[place.step, place.slot].append(number)
    for index, tokens in here.marking.tokens.items():
        assert isinstance(index, int)
        slot = wiring.slots[index]
        for token in tokens:
            fitting = [n for n in spots[slot.step, slot.position] if token.name in machine.places[n].names]
            twins = [n for n in fitting if machine.places[n].outside == outside(token)]
            counts[(twins or fitting)[0]] += 1
    for (index, name), owed in here.marking.owed.items():
        assert isinstance(index, int)
        slot = wiring.slots[index]
        for number in spots[slot.step, slot.position]:
            counts[number] -= owed if name in machine.places[number].names else 0
    counts[machine.ok], counts[machine.put_off] = int(here.ok), int(here.put_off)
    for event in machine.arriving:
        counts[machine.flags[f"came {event.name}"]] = int(event.name in here.came)
    for step in here.begun:
        counts[machine.flags[f"begun {step}"]] = 1
    return tuple(counts)


def _prospect_of(space: Space) -> Prospect:
    """From what was seen: ends, standstills, and ways from which neither is reached."""
    seen, machine = len(space.states), space.machine
    stalled = [number for number, meaning in space.rests.items() if meaning == "stalled"]
    ends = [number for number, meaning in space.rests.items() if meaning in ("succeeded", "failed")]
    good = bool(ends or space.ends_well)
    missing = starving(machine, space.states[stalled[0]]) if stalled else {}
    if good and stalled:
        return Prospect("may_stall", missing, seen)
    if not space.complete or space.pile is not None:
        return Prospect("unknown", missing, seen)
    if not good:
        return Prospect("stalls", missing, seen)
    turning = bool(space.edges)
    lost = turning and len(can_reach(space, [*ends, *space.ends_well])) < seen
    return Prospect("may_stall" if lost else "ends", {}, seen)
