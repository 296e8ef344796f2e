"""The run and its clean-up in one search: an end event may come in any state that has not ended (S12).

All that is enabled then is a firing under way and is withdrawn. Other events stay where they wait; a step that holds a
complete set all the same does not begin, unless the end event goes to it. In the clean-up no exit ends anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product

from penstock.kernel.net import CANCEL, ENDINGS, FAIL, TIMEOUT
from penstock.kernel.proof.machine import Machine, Move, State, meaning_of_rest
from penstock.kernel.proof.search import Budget, Plan, Space, add, arrivals_at_rest, coming, firings
from penstock.kernel.proof.structure import ends_run
from penstock.kernel.proof.trace import Event, Fire

FROZEN = -(10**6)  # where a complete set was left behind: nothing that comes there can wake the step


class Closing:
    """What the end of a run does to a state of this machine, which must know every exit."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.ending = {
            Fire(step.name, way.port): FAIL if FAIL in way.fires else CANCEL
            for step in machine.net.steps
            for way in step.exits
            if ends_run(way)
        }
        self.called = (CANCEL, TIMEOUT) if machine.net.has_timeout else (CANCEL,)
        self.gets = {
            end: [number for number, place in enumerate(machine.places) if end in place.names]
            for end in ENDINGS
        }
        self.all = tuple(range(len(machine.rules)))

    def phase(self, state: State) -> int:
        """0 before the end, then one number for each end event."""
        return state[self.machine.end]

    def endings(self, state: State, ready: list[int]) -> Iterator[Move]:
        """CANCEL and TIMEOUT as they come."""
        for end in self.called:
            yield from self.closes(state, state, ready, end, Event(end))

    def fires(self, state: State, ready: list[int], rule: int) -> Iterator[Move]:
        """The firings of a rule; before the end, some of them are the end."""
        for move in firings(self.machine, state, rule):
            end = self.ending.get(move.label) if isinstance(move.label, Fire) else None
            if end is None or self.phase(state):
                yield move
                continue
            step = self.machine.rules[rule].step
            others = [one for one in ready if self.machine.rules[one].step != step]
            yield from self.closes(state, move.apply(state, self.machine.signed), others, end, move.label)

    def closes(
        self, before: State, after: State, running: list[int], end: str, label: Event | Fire | None
    ) -> Iterator[Move]:
        """The moves to a state in which `running` are withdrawn and the end event has been fired."""
        machine = self.machine
        if not self.gets[end]:
            return
        rules = [machine.rules[rule] for rule in running]
        held = [[bind.takes for bind in rule.binds if bind.holds(before)] for rule in rules]
        for choice in product(*held):
            counts = list(after)
            for place in (place for takes in choice for place in takes):
                counts[place] -= 1
            self._freeze(counts, end)
            for place in self.gets[end]:
                counts[place] += 1
            counts[machine.end] = 1 + ENDINGS.index(end)
            changes = tuple(
                (n, new - old) for n, (old, new) in enumerate(zip(before, counts, strict=True)) if new != old
            )
            yield Move(label, changes, (), (), False, self.all)

    def _freeze(self, counts: list[int], end: str) -> None:
        machine = self.machine
        spared = {machine.places[place].step for place in self.gets[end]}
        state = tuple(counts)
        for rule in machine.rules:
            if rule.step not in spared and rule.enabled(state):
                for place in (place for part in machine.slots[rule.step].values() for place in part):
                    counts[place] = FROZEN


def explore_ends(machine: Machine, plan: Plan, budget: Budget, asked: frozenset[int] | None = None) -> Space:
    """Search the run and all its clean-ups; `alive` of the answer is what can fire in a clean-up.

    With `asked` the search goes deep and stops once all these steps are alive.
    """
    space, closing = Space(machine, plan), Closing(machine)
    todo = deque([0])
    while todo:
        if space.is_full(budget):
            space.exhausted = False
            break
        if asked is not None and asked <= {machine.rules[rule].step for rule in space.alive}:
            space.found = 0
            break
        number = todo.popleft() if asked is None else todo.pop()
        state = space.states[number]
        ready = [rule for rule in closing.all if machine.rules[rule].enabled(state)]
        alone, moves = _moves(space, closing, number, ready)
        followed = moves if asked is None else reversed(moves)
        for target, fresh in (entry for move in followed for entry in add(space, number, move)):
            if fresh or (alone and target not in space.alone and target in space.rests):
                todo.append(target)
            if alone:
                space.alone.add(target)
    return space


def _moves(space: Space, closing: Closing, number: int, ready: list[int]) -> tuple[bool, list[Move]]:
    """What is followed from a state, and whether one rule is followed alone."""
    machine, state = space.machine, space.states[number]
    over = bool(closing.phase(state))
    if not ready:
        return False, _at_rest(space, closing, number)
    space.alive.update(ready if over else ())
    ends = [] if over else list(closing.endings(state, ready))
    alone = [rule for rule in ready if rule in space.plan.eager]
    if alone:
        deepest = max(alone, key=machine.rank.__getitem__)
        return True, [*closing.fires(state, ready, deepest), *ends]
    found = [move for rule in ready for move in closing.fires(state, ready, rule)]
    return False, [*found, *coming(machine, state), *ends]


def _at_rest(space: Space, closing: Closing, number: int) -> list[Move]:
    machine, state = space.machine, space.states[number]
    if closing.phase(state):
        space.rests[number] = "failed"
        return []
    meaning = space.rests[number] = meaning_of_rest(machine, state)
    if meaning == "failed":
        return list(closing.closes(state, state, [], FAIL, None))
    found = arrivals_at_rest(space, number, state)
    return found if meaning == "succeeded" else [*found, *closing.endings(state, [])]
