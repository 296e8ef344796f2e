"""Traces are never believed: each is replayed, firing by firing, on the whole net before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.kernel.proof.machine import Machine, Move, State, meaning_of_rest
from penstock.kernel.proof.structure import ends_run
from penstock.kernel.proof.trace import Event, Fire, Trace

Check = Callable[[Machine, State], bool]


def replay(machine: Machine, trace: Trace, origin: State | None = None) -> set[State]:
    """Every state the trace can lead to; empty where it cannot be run. `machine` must know every exit."""
    states, previous = {machine.initial if origin is None else origin}, None
    for item in trace:
        states, previous = _after(machine, states, previous, item), item
        if not states:
            break
    return states


def _after(
    machine: Machine, states: set[State], previous: Event | Fire | None, item: Event | Fire
) -> set[State]:
    if isinstance(previous, Fire) and _ends(machine, previous):
        return set()
    go = _arrive if isinstance(item, Event) else _fire
    moves = ((state, move) for state in states for move in go(machine, state, item))
    return {after for state, move in moves for after in machine.after(state, move, frozenset())[1]}


def at_rest(machine: Machine, state: State) -> bool:
    return not any(rule.enabled(state) for rule in machine.rules)


def shown(machine: Machine, trace: Trace, check: Check) -> Trace | None:
    """The trace as it can be replayed, each outside event early enough not to miss the run; None if it cannot be."""
    items = list(trace)
    reached = [{machine.initial}]
    while len(reached) <= len(items):
        number = len(reached) - 1
        states = _after(machine, reached[-1], items[number - 1] if number else None, items[number])
        if states:
            reached.append(states)
        elif number and isinstance(items[number], Event):
            items[number - 1], items[number] = items[number], items[number - 1]
            reached.pop()
        else:
            return None
    passed = any(check(machine, state) for state in reached[-1])
    return tuple(items) if passed else None


def _ends(machine: Machine, item: Fire) -> bool:
    step = machine.net.by_name[item.step]
    return any(way.port == item.port and ends_run(way) for way in step.exits)


def _arrive(machine: Machine, state: State, item: Event | Fire) -> Iterable[Move]:
    event, move = next((event, move) for event, move in machine.arrivals if move.label == item)
    if at_rest(machine, state) and meaning_of_rest(machine, state) in ("failed", "succeeded"):
        return
    if not machine.came(state, event):
        yield move
    elif event.many:
        yield machine.repeat(state, event)


def _fire(machine: Machine, state: State, item: Event | Fire) -> Iterable[Move]:
    assert isinstance(item, Fire)
    for rule in machine.by_name.get(item.step, []):
        for bind, moves in zip(rule.binds, rule.moves, strict=True):
            if not rule.begins and bind.holds(state):
                yield from (move for move in moves if move.label == item)
