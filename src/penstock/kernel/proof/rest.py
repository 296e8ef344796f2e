"""What a state in which nothing moves means: rule R8 of the definition."""

from __future__ import annotations

from typing import Literal

from penstock.kernel.proof.counters import State
from penstock.kernel.proof.machine import Machine

Meaning = Literal["failed", "succeeded", "waiting", "stalled"]


def meaning_of_rest(machine: Machine, state: State) -> Meaning:
    """The first part of R8 that holds for a state in which no step is enabled."""
    if state[machine.put_off]:
        return "failed"
    if state[machine.ok]:
        return "succeeded"
    if _outside_would_help(machine, state):
        return "waiting"
    if not machine.net.names_ok and not left_over(machine, state):
        return "succeeded"
    return "stalled"


def left_over(machine: Machine, state: State) -> tuple[int, ...]:
    """Places in which events wait that did not come from outside."""
    return tuple(
        number for number, place in enumerate(machine.places) if state[number] > 0 and not place.outside
    )


def _outside_would_help(machine: Machine, state: State) -> bool:
    counts = list(state)
    touched: set[int] = set()
    for event, move in machine.arrivals:
        if not event.optional and (event.many or not machine.came(state, event)):
            for place, change in move.adds:
                counts[place] = max(counts[place], 0) + 1 if event.many else counts[place] + change
            touched.update(move.touches)
    helped = tuple(counts)
    return any(machine.rules[rule].enabled(helped) for rule in touched)


def starving(machine: Machine, state: State) -> dict[str, tuple[str, ...]]:
    """Steps that hold some of what they need -> the events they still miss."""
    found: dict[str, tuple[str, ...]] = {}
    for index in machine.steps:
        step = machine.net.steps[index]
        held = {number: [p for p in part if state[p] > 0] for number, part in machine.slots[index].items()}
        if not any(held.values()):
            continue
        missing: list[str] = []
        for number, slot in enumerate(step.slots):
            if len(held[number]) < slot.wanted:
                have = {name for place in held[number] for name in machine.places[place].names}
                missing += [name for name in slot.events if not slot.need or name not in have]
        found[step.name] = tuple(dict.fromkeys(missing))
    return found
