"""The clean-up: what runs after FAIL, CANCEL or TIMEOUT. It ends when nothing moves, so it cannot deadlock."""

from __future__ import annotations

from typing import NamedTuple

from penstock.kernel.net import CANCEL, ENDINGS, FAIL, START, TIMEOUT, Exit, Net, Outside
from penstock.kernel.proof.machine import Machine, Scope
from penstock.kernel.proof.search import Budget, Space
from penstock.kernel.proof.structure import Graph, ends_run, reach, reverse, step_graph, takers
from penstock.kernel.proof.survey import can_reach, shape_of, survey
from penstock.kernel.proof.trace import Trace


class CleanUp(NamedTuple):
    """What one end event sets going."""

    alive: frozenset[int]
    space: Space
    no_end: Trace | None
    complete: bool


def end_events(net: Net, fail: bool) -> tuple[str, ...]:
    """End events that may come and that some step waits for."""
    possible = {FAIL: fail, CANCEL: True, TIMEOUT: net.has_timeout}
    return tuple(name for name in ENDINGS if possible[name] and name in net.awaited)


def search_cleanup(net: Net, end: str, alive: frozenset[int], budget: Budget) -> CleanUp:
    """Search the clean-up after `end`: alone where nothing of the run before can reach it, else with the run."""
    graph = step_graph(net, lambda step, way: True)
    part = frozenset(reach(graph, takers(net).get(end, ())))
    if is_apart(net, part, end, alive):
        return _alone(net, end, part, budget)
    return _with_run(net, end, part, graph, budget)


def is_apart(net: Net, part: frozenset[int], end: str, alive: frozenset[int]) -> bool:
    """Whether only the end event and steps that never fire before it feed these steps (S11)."""
    given = {START, *net.outside_names()}
    for index, step in enumerate(net.steps):
        if index not in part or index in alive:
            given.update(name for way in step.exits for name in way.fires if name not in ENDINGS)
    slots = [slot for index in part for slot in net.steps[index].slots]
    return not any(name in given for slot in slots for name in slot.events)


def _alone(net: Net, end: str, part: frozenset[int], budget: Budget) -> CleanUp:
    scope = Scope(steps=part, given=(end,), arriving=(), ends=_never, delivered=frozenset({end}), prune=False)
    machine = Machine(net, scope)
    shape = shape_of(net, _never)
    space = survey(machine, shape, budget)
    no_end = None
    if shape.turning and space.complete and not net.endless:
        lost = set(range(len(space.states))) - can_reach(space, list(space.rests))
        no_end = space.trace(min(lost)) if lost else None
    return CleanUp(_woken(space), space, no_end, space.complete)


def _with_run(net: Net, end: str, part: frozenset[int], graph: Graph, budget: Budget) -> CleanUp:
    """Let the run go on beside its clean-up: each step can fire so if and only if it can fire in the clean-up,
    because all of the run that it needs can come before the end event (S12)."""
    arriving = net.outside if end == FAIL else (*net.outside, Outside(end, optional=True))
    scope = Scope(
        steps=frozenset(reach(reverse(graph), part)),
        arriving=arriving,
        ends=lambda way: ends_run(way) and end not in way.fires,
        delivered=frozenset({end}),
        prune=False,
    )
    shape = shape_of(net, scope.ends)
    space = survey(Machine(net, scope), shape, budget)
    return CleanUp(_woken(space) & part, space, None, space.complete and not shape.turning)


def _woken(space: Space) -> frozenset[int]:
    return frozenset(space.machine.rules[rule].step for rule in space.alive)


def _never(way: Exit) -> bool:
    return False
