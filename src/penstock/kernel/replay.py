"""Traces are never believed: each is replayed, firing by firing, on the whole net before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.kernel.counters import State
from penstock.kernel.machine import Machine
from penstock.kernel.rest import meaning_of_rest
from penstock.kernel.structure import ends_run
from penstock.kernel.trace import Event, Fire, Trace

Check = Callable[[Machine, State], bool]


def replay(machine: Machine, trace: Trace, origin: Iterable[State] | None = None) -> set[State]:
    """Every state the trace can lead to; empty where it cannot be run. `machine` must know every exit."""
    states = set(origin if origin is not None else (machine.initial,))
    last = len(trace) - 1
    for number, item in enumerate(trace):
        states = _with_begun(machine, states)
        if isinstance(item, Event):
            states = {after for state in states for after in _arrive(machine, state, item)}
        elif number < last and _ends(machine, item):
            return set()
        else:
            states = {
                after for state in _with_begun(machine, states) for after in _fire(machine, state, item)
            }
    return states


def holds(machine: Machine, trace: Trace, check: Check) -> bool:
    """Whether the trace can be run to a state that passes the check."""
    return any(check(machine, state) for state in _with_begun(machine, replay(machine, trace)))


def at_rest(machine: Machine, state: State) -> bool:
    return not any(rule.enabled(state) for rule in machine.rules)


def shown(machine: Machine, trace: Trace, check: Check) -> Trace | None:
    """The trace as it can be replayed, each outside event early enough not to miss the run; None if it cannot be."""
    number = 0
    while number < len(trace):
        if replay(machine, trace[: number + 1]):
            number += 1
        elif number and isinstance(trace[number], Event):
            swapped = (trace[number], trace[number - 1])
            trace = (*trace[: number - 1], *swapped, *trace[number + 1 :])
            number -= 1
        else:
            return None
    return trace if holds(machine, trace, check) else None


def _ends(machine: Machine, item: Fire) -> bool:
    step = machine.net.by_name[item.step]
    return any(way.port == item.port and ends_run(way) for way in step.exits)


def _arrive(machine: Machine, state: State, item: Event) -> Iterable[State]:
    event, move = next((event, move) for event, move in machine.arrivals if event.name == item.name)
    resting = at_rest(machine, state)
    if resting and meaning_of_rest(machine, state) in ("failed", "succeeded"):
        return
    if not machine.came(state, event):
        yield move.apply(state, frozenset())
    elif event.many and resting:
        yield machine.repeat(state, event).apply(state, frozenset())


def _with_begun(machine: Machine, states: set[State]) -> set[State]:
    """The states, and those in which more firings of steps with `cancels` have begun."""
    begins = [rule for rule in machine.rules if rule.begins]
    seen, stack = set(states), list(states) if begins else []
    while stack:
        state = stack.pop()
        for rule in begins:
            for bind, moves in zip(rule.binds, rule.moves, strict=True):
                after = moves[0].apply(state, frozenset()) if bind.holds(state) else state
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    return seen


def _fire(machine: Machine, state: State, item: Fire) -> Iterable[State]:
    for rule in machine.rules:
        if machine.net.steps[rule.step].name == item.step and not rule.begins:
            for bind, moves in zip(rule.binds, rule.moves, strict=True):
                if bind.holds(state):
                    yield from (move.apply(state, frozenset()) for move in moves if move.label == item)
