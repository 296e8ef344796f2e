"""The rules of running, played out in every order with events in lists: slow, plain, apart from the proof.

Two games are played. In the loose one (`moves`) a firing is one move and a step may begin late. In the strict one
(`strict_moves`) a step begins as soon as it can and a firing takes time, as in the engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from penstock.kernel.net import CANCEL, FAIL, OK, START, TIMEOUT, Exit, Net, Slot, Step

Label = tuple[str, str | None] | str | None


class Run(NamedTuple):
    """The waiting events of each slot, the owed names of each slot, begun firings, flags."""

    waiting: tuple[tuple[tuple[str, ...], ...], ...]
    owed: tuple[tuple[tuple[str, ...], ...], ...]
    begun: tuple[int, ...]
    ok: bool = False
    put_off: bool = False
    came: frozenset[str] = frozenset()
    ended: bool = False


def empty(net: Net) -> Run:
    blank = tuple(tuple(() for _ in step.slots) for step in net.steps)
    return Run(blank, blank, tuple(0 for _ in net.steps))


def put(net: Net, run: Run, name: str, only_empty: bool = False) -> Run:
    """Give the event to every slot that takes it; a slot that owes it swallows it."""
    waiting, owed = list(run.waiting), list(run.owed)
    for i, step in enumerate(net.steps):
        for j, slot in enumerate(step.slots):
            if name not in slot.events:
                continue
            held, debts = waiting[i][j], owed[i][j]
            if only_empty and (name in held if slot.need and not slot.keep else held):
                continue
            if name in debts:
                at = debts.index(name)
                owed[i] = with_slot(owed[i], j, debts[:at] + debts[at + 1 :])
            else:
                now = (*held, name)
                waiting[i] = with_slot(waiting[i], j, now if _ordered(net, slot) else tuple(sorted(now)))
    return run._replace(waiting=tuple(waiting), owed=tuple(owed))


def with_slot(
    slots: tuple[tuple[str, ...], ...], j: int, held: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    return (*slots[:j], held, *slots[j + 1 :])


def _ordered(net: Net, slot: Slot) -> bool:
    """Whether it shows which event a firing took: the oldest goes, and R8 asks whether outside events stay."""
    outside = {event.name for event in net.outside}
    return not slot.need and bool(outside & set(slot.events)) and bool(set(slot.events) - outside)


def ways_to_take(
    slot: Slot, waiting: tuple[str, ...], owed: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What waits and what is owed after one firing has taken from the slot."""
    names = sorted(set(waiting))
    if len(names) < slot.wanted:
        return
    if not slot.need:
        yield waiting[1:], owed
        return
    left, debts = list(waiting), list(owed)
    for name in slot.events:
        if name in left:
            left.remove(name)
        else:
            debts.append(name)
    yield tuple(left), tuple(sorted(debts))


def begin(net: Net, run: Run, i: int) -> Iterator[Run]:
    step = net.steps[i]
    if run.begun[i]:
        return
    options = [list(ways_to_take(s, run.waiting[i][j], run.owed[i][j])) for j, s in enumerate(step.slots)]
    for choice in product(*options):
        waiting, owed, begun = list(run.waiting), list(run.owed), list(run.begun)
        waiting[i] = tuple(left for left, _ in choice)
        owed[i] = tuple(debts for _, debts in choice)
        for k, other in enumerate(net.steps):
            if other.name in step.cancels:
                waiting[k] = owed[k] = tuple(() for _ in other.slots)
                begun[k] = 0
        begun[i] = 1
        yield run._replace(waiting=tuple(waiting), owed=tuple(owed), begun=tuple(begun))


def end(net: Net, run: Run, i: int, number: int) -> Run:
    way = net.steps[i].exits[number]
    begun = list(run.begun)
    begun[i] = 0
    run = run._replace(begun=tuple(begun))
    if FAIL in way.fires or CANCEL in way.fires:
        return run._replace(ended=True)
    for name in way.fires:
        if name == OK:
            run = run._replace(ok=True)
        elif name != TIMEOUT:
            run = put(net, run, name)
    return run._replace(put_off=run.put_off or way.put_off)


def can_begin(net: Net, run: Run, step: Step, i: int) -> bool:
    return next(begin(net, run._replace(begun=tuple(0 for _ in run.begun)), i), None) is not None


def at_rest(net: Net, run: Run) -> bool:
    return not any(run.begun) and not any(can_begin(net, run, step, i) for i, step in enumerate(net.steps))


def meaning(net: Net, run: Run) -> str:
    if run.put_off:
        return "failed"
    if run.ok:
        return "succeeded"
    helped = run
    for event in net.outside:
        if not event.optional and (event.many or event.name not in run.came):
            owed = [names.count(event.name) for slots in run.owed for names in slots]
            for _ in range(1 + max([0, *owed]) if event.many else 1):
                helped = put(net, helped, event.name)
    if not at_rest(net, helped):
        return "waiting"
    outside = {event.name for event in net.outside}
    inside = [name for slots in run.waiting for names in slots for name in names if name not in outside]
    return "succeeded" if not inside and not net.names_ok else "stalled"


class Edge(NamedTuple):
    target: Run
    label: Label
    failure: bool
    cost: int


def moves(net: Net, run: Run, split: bool) -> Iterator[Edge]:
    """Everything that may happen next. `split`: every firing begins and ends apart, else only those that cancel."""
    if run.ended:
        return
    resting = at_rest(net, run)
    if resting and meaning(net, run) in ("failed", "succeeded"):
        return
    for i in range(len(net.steps)):
        yield from firings(net, run, i, split)
    for event in net.outside:
        if event.name not in run.came:
            came = run.came | {event.name}
            yield Edge(put(net, run, event.name)._replace(came=came), event.name, False, 1)
        elif event.many and resting:
            yield Edge(put(net, run, event.name, only_empty=True), event.name, False, 1)


def firings(net: Net, run: Run, i: int, split: bool) -> Iterator[Edge]:
    step = net.steps[i]
    if run.begun[i]:
        for number, way in enumerate(step.exits):
            yield Edge(end(net, run, i, number), (step.name, way.port), way.failure, 1)
    for started in begin(net, run, i):
        if split or step.cancels:
            yield Edge(started, None, False, 0)
            continue
        for number, way in enumerate(step.exits):
            yield Edge(end(net, started, i, number), (step.name, way.port), way.failure, 1)


# -- the strict game: as the engine does ----------------------------------------------------------------------


def fire(net: Net, run: Run, names: Iterable[str], filled: list[int], woken: set[int]) -> Run:
    """Fire the events one after the other; then the steps that are `filled` begin, in the order in which they were."""
    for name in names:
        before, run = run, put(net, run, name)
        filled += newly_complete(net, before, run)
    return begin_all(net, run, filled, woken)


def begin_all(net: Net, run: Run, filled: list[int], woken: set[int]) -> Run:
    woken.update(filled)
    for i in filled:
        run = next(begin(net, run, i), run)
    return run


def newly_complete(net: Net, before: Run, after: Run) -> list[int]:
    return [
        i
        for i, step in enumerate(net.steps)
        if before.waiting[i] is not after.waiting[i]
        and complete(step, after.waiting[i])
        and not complete(step, before.waiting[i])
    ]


def complete(step: Step, waiting: tuple[tuple[str, ...], ...]) -> bool:
    """Whether every slot of the step holds what it needs."""
    return all(len(set(held)) >= slot.wanted for slot, held in zip(step.slots, waiting, strict=True))


def strict_moves(net: Net, run: Run, woken: set[int], hurried: bool) -> Iterator[Edge]:
    """Everything that may happen next: a firing ends, or an event comes from outside.

    `hurried`: a `many` event may come again while something moves.
    """
    if run.ended or (not any(run.begun) and meaning(net, run) in ("failed", "succeeded")):
        return
    for i, step in enumerate(net.steps):
        for way in step.exits if run.begun[i] else ():
            yield Edge(strict_end(net, run, i, way, woken), (step.name, way.port), way.failure, 1)
    for event in net.outside:
        if event.name not in run.came:
            coming = run._replace(came=run.came | {event.name})
            yield Edge(fire(net, coming, (event.name,), [], woken), event.name, False, 1)
        elif event.many and (hurried or not any(run.begun)):
            again = put(net, run, event.name, only_empty=True)
            yield Edge(begin_all(net, again, newly_complete(net, run, again), woken), event.name, False, 1)


def strict_end(net: Net, run: Run, i: int, way: Exit, woken: set[int]) -> Run:
    run = run._replace(begun=(*run.begun[:i], 0, *run.begun[i + 1 :]))
    if FAIL in way.fires or CANCEL in way.fires:
        return run._replace(ended=True)
    run = run._replace(ok=run.ok or OK in way.fires, put_off=run.put_off or way.put_off)
    again = [i] if complete(net.steps[i], run.waiting[i]) else []
    return fire(net, run, (name for name in way.fires if name not in (OK, TIMEOUT)), again, woken)


class World:
    """All runs of a net, or as many as fit: `full` says whether these are all, `piled` whether a slot overflowed."""

    def __init__(
        self,
        net: Net,
        split: bool = False,
        most: int = 700,
        pile: int = 7,
        strict: bool = False,
        hurried: bool = True,
    ) -> None:
        self.net = net
        self.full, self.piled = True, False
        self.woken: set[int] = set()  # in the strict game: steps that held all they needed
        first = fire(net, empty(net), (START,), [], self.woken) if strict else put(net, empty(net), START)
        self.depth = {first: 0}
        self.edges: dict[Run, list[Edge]] = {}
        todo = deque([first])
        while todo:
            run = todo.popleft()
            if run in self.edges:
                continue
            follow = strict_moves(net, run, self.woken, hurried) if strict else moves(net, run, split)
            self.edges[run] = list(follow)
            if any(len(names) > pile for slots in run.waiting for names in slots):
                self.piled = True
            if self.piled or len(self.edges) > most:
                self.full = False
                return
            for edge in self.edges[run]:
                depth = self.depth[run] + edge.cost
                if depth < self.depth.get(edge.target, 10**9):
                    self.depth[edge.target] = depth
                    (todo.append if edge.cost else todo.appendleft)(edge.target)

    def shortest(self, chosen: set[Run]) -> int | None:
        return min((self.depth[run] for run in chosen), default=None)

    def rests(self, wanted: str) -> set[Run]:
        return {
            r for r in self.edges if not r.ended and at_rest(self.net, r) and meaning(self.net, r) == wanted
        }

    def alive(self) -> set[str]:
        if self.woken:
            return {self.net.steps[i].name for i in self.woken}
        return {
            step.name
            for run in self.edges
            if not run.ended
            for i, step in enumerate(self.net.steps)
            if run.begun[i] or (self.edges[run] and can_begin(self.net, run, step, i))
        }

    def lost(self) -> set[Run]:
        """Runs that, while no step fails, can reach neither an end nor a deadlock."""
        good = {r for r in self.edges if r.ended}
        good |= self.rests("failed") | self.rests("succeeded") | self.rests("stalled")
        back: dict[Run, list[Run]] = {}
        for run, edges in self.edges.items():
            for edge in edges:
                if not edge.failure:
                    back.setdefault(edge.target, []).append(run)
        return set(self.edges) - closure(good, lambda run: back.get(run, ()))

    def doubled(self, i: int) -> bool:
        """Whether a step can begin again after it has fired."""
        name = self.net.steps[i].name
        labels = ((edge.label, edge.target) for edges in self.edges.values() for edge in edges)
        fired = {run for label, run in labels if isinstance(label, tuple) and label[0] == name}
        after = closure(fired, lambda run: (edge.target for edge in self.edges.get(run, ())))
        return any(run.begun[i] for run in after)

    def unasked_failure(self) -> int | None:
        """The fewest firings, all done, that end in FAIL."""
        todo = deque([(next(iter(self.edges)), 0)])
        seen = {todo[0][0]}
        while todo:
            run, depth = todo.popleft()
            for edge in self.edges.get(run, ()):
                if not isinstance(edge.label, tuple) or edge.label[1] not in ("done", None):
                    continue
                way = next(way for way in self.net.by_name[edge.label[0]].exits if way.port == edge.label[1])
                if FAIL in way.fires:
                    return depth + 1
                if edge.target not in seen and not edge.target.ended:
                    seen.add(edge.target)
                    todo.append((edge.target, depth + 1))
        return None

    def left_at_joins(self) -> set[Run]:
        outside = {event.name for event in self.net.outside}
        joins = [i for i, s in enumerate(self.net.steps) if len(s.slots) > 1 or any(x.need for x in s.slots)]
        return {
            run
            for run in self.rests("succeeded")
            if run.ok
            and any(name not in outside for i in joins for names in run.waiting[i] for name in names)
        }


def closure(roots: set[Run], following: Callable[[Run], Iterable[Run]]) -> set[Run]:
    """The roots and all that follows from them."""
    seen, stack = set(roots), list(roots)
    while stack:
        for run in following(stack.pop()):
            if run not in seen:
                seen.add(run)
                stack.append(run)
    return seen


def fires_twice(net: Net, name: str, most: int = 700) -> bool:
    """Whether the step can fire twice in one run."""
    first = put(net, empty(net), START)
    seen, todo = {(first, 0)}, deque([(first, 0)])
    while todo and len(seen) < most * 3:
        run, count = todo.popleft()
        for edge in moves(net, run, split=False):
            fired = count + (isinstance(edge.label, tuple) and edge.label[0] == name)
            if fired == 2:
                return True
            if (edge.target, fired) not in seen:
                seen.add((edge.target, fired))
                todo.append((edge.target, fired))
    return False


def steps_to_unasked_failure(net: Net, most: int = 700) -> int | None:
    """The fewest firings, all done, that end in FAIL."""
    first = put(net, empty(net), START)
    seen, todo = {first}, deque([(first, 0)])
    while todo and len(seen) < most:
        run, depth = todo.popleft()
        for i, step in enumerate(net.steps):
            for started in begin(net, run, i):
                for number, way in enumerate(step.exits):
                    if way.port not in ("done", None):
                        continue
                    after = end(net, started, i, number)
                    if FAIL in way.fires:
                        return depth + 1
                    if after not in seen and not after.ended:
                        seen.add(after)
                        todo.append((after, depth + 1))
    return None
