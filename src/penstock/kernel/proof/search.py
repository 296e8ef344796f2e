"""The bounded search: breadth first, so that the first path found to a state is a shortest one.

Steps never compete for events: each slot belongs to one step. So of several enabled steps it is enough to follow
one, if no cancel region and no choice of what to take is involved, and outside events may wait until nothing
moves (S7, S8). `eager` says which rules may be followed alone; with none of them the search is complete and plain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import le
from typing import NamedTuple

from penstock.kernel.proof.counters import Move, State
from penstock.kernel.proof.machine import Machine
from penstock.kernel.proof.rest import Meaning, meaning_of_rest
from penstock.kernel.proof.trace import Event, Trace

Goal = Callable[[State, list[int]], bool]


class Budget(NamedTuple):
    """How far a search may go: states seen, and the caller's word that time is up."""

    states: int
    out_of_time: Callable[[], bool]


class Plan(NamedTuple):
    """How to search: rules that may be followed alone, arrivals that may wait, and what to look for on the way."""

    eager: frozenset[int] = frozenset()
    patient: frozenset[str] = frozenset()  # outside events that touch nothing where order matters
    covers: bool = False  # look for loops that pile events up
    edges: bool = False  # keep the graph, for questions about what can still be reached
    goal: Goal | None = None  # stop at the first state that has it


class Pile(NamedTuple):
    """A loop from state `start` to state `last` and back by `move`: it leaves more events on `places` each time."""

    start: int
    last: int
    move: Move
    places: tuple[int, ...]


class Space:
    """What a search has seen. State 0 is the beginning; each other one has a parent nearer to it."""

    def __init__(self, machine: Machine, plan: Plan) -> None:
        self.machine, self.plan = machine, plan
        self.states: list[State] = [machine.initial]
        self.parent: list[int] = [-1]
        self.via: list[Move | None] = [None]
        self.index: dict[State, int] = {machine.initial: 0}
        self.alive: set[int] = set()  # rules that can fire
        self.rests: dict[int, Meaning] = {}
        self.ends_well: set[int] = set()  # states with an end in reach of the next firing
        self.edges: dict[int, list[tuple[int, bool]]] = {}
        self.pile: Pile | None = None
        self.found: int | None = None
        self.alone: set[int] = set()  # states entered by a rule that was followed alone
        self.complete = True
        self.relaxed = False  # a `many` event was let come again only when nothing moved

    def trace(self, number: int) -> Trace:
        """A path from the beginning to the state."""
        labels = []
        while number > 0:
            move = self.via[number]
            if move is not None and move.label is not None:
                labels.append(move.label)
            number = self.parent[number]
        return tuple(reversed(labels))


def explore(machine: Machine, plan: Plan, budget: Budget) -> Space:
    """Search from the beginning until all is seen, the goal is met or the budget is spent."""
    space = Space(machine, plan)
    candidates: list[tuple[int, ...]] = [tuple(range(len(machine.rules)))]
    todo = deque([0])
    while todo:
        if len(space.states) >= budget.states or budget.out_of_time():
            space.complete = False
            break
        number = todo.popleft()
        state = space.states[number]
        ready = [rule for rule in candidates[number] if machine.rules[rule].enabled(state)]
        candidates[number] = ()
        if plan.goal is not None and plan.goal(state, ready):
            space.found = number
            break
        alone, moves = _moves(space, number, state, ready)
        for move in moves:
            target, fresh = add(space, number, move)
            if fresh:
                candidates.append((*{*ready, *move.touches},))
            fired = alone and not isinstance(move.label, Event)
            if fresh or (fired and target not in space.alone and target in space.rests):
                todo.append(target)
            if fired:
                space.alone.add(target)
    return space


def add(space: Space, number: int, move: Move) -> tuple[int, bool]:
    """Follow a move: the state it leads to, and whether that is new."""
    after = move.apply(space.states[number], space.machine.signed)
    target = space.index.get(after)
    fresh = target is None
    if target is None:
        pile = _find_pile(space, number, move, after) if space.plan.covers else None
        if pile is not None:
            space.pile = space.pile or pile
            space.complete = False
            return number, False
        target = space.index[after] = len(space.states)
        space.states.append(after)
        space.parent.append(number)
        space.via.append(move)
    if space.plan.edges:
        space.edges.setdefault(number, []).append((target, move.failure))
    return target, fresh


def _moves(space: Space, number: int, state: State, ready: list[int]) -> tuple[bool, list[Move]]:
    """The moves to follow from a state, and whether one rule is followed alone; notes what the state shows."""
    machine, plan = space.machine, space.plan
    if not ready:
        space.rests[number] = meaning_of_rest(machine, state)
        return False, arrivals_at_rest(space, number, state)
    space.alive.update(ready)
    if any(machine.rules[rule].ends_well for rule in ready):
        space.ends_well.add(number)
    followed = [rule for rule in ready if any(machine.rules[rule].moves)]
    alone = [rule for rule in followed if rule in plan.eager]
    if alone:
        first = firings(machine, state, max(alone, key=machine.rank.__getitem__))
        return True, [*first, *_coming(machine, state, passed_over=plan.patient)]
    found = [move for rule in followed for move in firings(machine, state, rule)]
    return False, [*found, *_coming(machine, state)]


def _coming(machine: Machine, state: State, passed_over: frozenset[str] = frozenset()) -> list[Move]:
    """The outside events that have not come yet and may come now."""
    return [
        move
        for event, move in machine.arrivals
        if event.name not in passed_over and not machine.came(state, event)
    ]


def firings(machine: Machine, state: State, number: int) -> list[Move]:
    rule = machine.rules[number]
    return [
        move for bind, part in zip(rule.binds, rule.moves, strict=True) if bind.holds(state) for move in part
    ]


def arrivals_at_rest(space: Space, number: int, state: State) -> list[Move]:
    """What may come when nothing moves.

    After an end nothing comes, but what commutes with the last firing may have come before it.
    """
    machine = space.machine
    ended = space.rests[number] in ("failed", "succeeded")
    if ended and number == 0:
        return []
    found = []
    for event, move in machine.arrivals:
        if not machine.came(state, event):
            if not ended or event.name in space.plan.patient or number in space.alone:
                found.append(move)
        elif event.many and not ended:
            found.append(machine.repeat(state, event))
    return [move for move in found if move.adds or move.sets]


def _find_pile(space: Space, number: int, move: Move, after: State) -> Pile | None:
    """A loop back along the path that leaves more behind each time it is run (S9); it closes where a firing ends."""
    if move.label is None:
        return None
    size = len(space.machine.places)
    last, cleared = number, set(move.clears)
    fed = {place for event, arrival in space.machine.arrivals if event.many for place, _ in arrival.adds}
    while number >= 0:
        before = space.states[number]
        if before[size:] == after[size:] and all(map(le, before, after)):
            grown = [place for place in range(size) if after[place] > before[place] and place not in cleared]
            if grown and all(before[place] == after[place] for place in fed):
                return Pile(number, last, move, tuple(grown))
        step = space.via[number]
        cleared |= set(step.clears) if step is not None else set()
        number = space.parent[number]
    return None
