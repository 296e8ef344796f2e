"""The net as counters: each slot is one or more places, a state is a tuple of counts, a firing is arithmetic.

A plain slot is a count. A slot that needs n different events has a count for each name, waiting minus owed:
an arrival adds one, a firing takes one of every name, so that what it did not find is owed. Behind the
places come the flags: OK fired, a failure put off, outside events that came, firings begun, the watched step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

from penstock.kernel.net import Net, Slot, Step
from penstock.kernel.proof.trace import Event, Fire

State = tuple[int, ...]
LEAST_OWED = -8  # a slot that owes more is taken to owe this much; traces are replayed without it


class Place(NamedTuple):
    """Where events wait: a slot, or one name of a slot. `outside`: what waits here came from outside."""

    step: int
    slot: int
    names: tuple[str, ...]
    outside: bool
    signed: bool


class Bind(NamedTuple):
    """One way for a step to take its events: places that must hold one, n of some, flags that must be down."""

    plain: tuple[int, ...]
    needs: tuple[tuple[int, tuple[int, ...]], ...] = ()
    down: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()

    def holds(self, state: State) -> bool:
        for place in self.plain:
            if state[place] < 1:
                return False
        if any(state[flag] for flag in self.down):
            return False
        return all(sum(state[place] > 0 for place in places) >= wanted for wanted, places in self.needs)


class Move(NamedTuple):
    """A change of state. `touches`: rules that it may enable or disable."""

    label: Event | Fire | None  # None: a firing begins and is seen only when it ends
    adds: tuple[tuple[int, int], ...]
    sets: tuple[int, ...]
    clears: tuple[int, ...]
    failure: bool
    touches: tuple[int, ...]

    def apply(self, state: State, signed: frozenset[int]) -> State:
        counts = list(state)
        for place in self.clears:
            counts[place] = 0
        for place, change in self.adds:
            counts[place] += change
            if change == -1 and counts[place] < LEAST_OWED and place in signed:
                counts[place] = LEAST_OWED
        for flag in self.sets:
            counts[flag] = 1
        return tuple(counts)


def places_of(net: Net, index: int, step: Step) -> Iterator[Place]:
    """The places of a step's slots. A join keeps outside and inside events of one slot apart: R8 asks which wait."""
    outside = set(net.outside_names())
    inside = net.fired | (net.awaited - outside)
    for number, slot in enumerate(step.slots):
        if slot.need:
            for name in slot.events:
                yield Place(index, number, (name,), name not in inside, not slot.keep)
            continue
        inner = tuple(name for name in slot.events if name in inside)
        outer = tuple(name for name in slot.events if name in outside)
        if len(step.slots) == 1 or not inner or not outer:
            yield Place(index, number, slot.events, not inner, False)
        else:
            yield Place(index, number, inner, False, False)
            yield Place(index, number, outer, True, False)


def binds_of(step: Step, places: dict[int, list[int]], down: tuple[int, ...] = ()) -> tuple[Bind, ...]:
    """Every way to take one set of events; `places` maps a slot's number to its places."""
    options = [list(_options(slot, tuple(places[number]))) for number, slot in enumerate(step.slots)]
    found = []
    for choice in product(*options):
        plain = tuple(place for part, need in choice if not need for place in part)
        needs = tuple((need, part) for part, need in choice if need)
        takes = tuple(place for part, _ in choice for place in part)
        found.append(Bind(plain, needs, down, takes))
    return tuple(found)


def choices(net: Net) -> int:
    """How many moves the net has because firings may choose what to take, beyond one for each exit."""
    total = 0
    for index, step in enumerate(net.steps):
        held = Counter(place.slot for place in places_of(net, index, step))
        ways = [
            1 if slot.need and not slot.keep else comb(held[n], slot.wanted)
            for n, slot in enumerate(step.slots)
        ]
        total += (prod(ways) - 1) * len(step.exits)
    return total


def _options(slot: Slot, places: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """What one firing takes from a slot: places it lowers, and how many of them must hold an event (0: all)."""
    if slot.need and not slot.keep:
        yield places, slot.need
    else:
        for part in combinations(places, slot.wanted):
            yield part, 0
