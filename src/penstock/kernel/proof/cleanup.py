"""The clean-up: what runs after FAIL, CANCEL or TIMEOUT. It ends when nothing moves, so it cannot deadlock."""

from __future__ import annotations

from typing import NamedTuple

from penstock.kernel.net import CANCEL, ENDINGS, FAIL, START, TIMEOUT, Exit, Net
from penstock.kernel.proof.closing import explore_ends
from penstock.kernel.proof.counters import LEAST_OWED
from penstock.kernel.proof.machine import Machine, Scope
from penstock.kernel.proof.search import Budget, Plan, Space
from penstock.kernel.proof.structure import (
    Graph,
    ends_run,
    fillable,
    loops,
    main_names,
    reach,
    step_graph,
    takers,
)
from penstock.kernel.proof.survey import can_reach, independent, shape_of, survey
from penstock.kernel.proof.trace import Trace
from penstock.kernel.proof.weights import bounded


class CleanUp(NamedTuple):
    """What an end event sets going. `end` None: searched with the run, and traces begin where the run does."""

    end: str | None
    alive: frozenset[int]
    space: Space
    no_end: Trace | None
    complete: bool


def end_events(net: Net, fail: bool) -> tuple[str, ...]:
    """End events that may come and that some step waits for."""
    possible = {FAIL: fail, CANCEL: True, TIMEOUT: net.has_timeout}
    return tuple(name for name in ENDINGS if possible[name] and name in net.awaited)


def search_cleanups(net: Net, fail: bool, alive: frozenset[int], budget: Budget) -> list[CleanUp]:
    """The clean-up after each end event: alone where nothing of the run before can reach it, else with the run."""
    graph = step_graph(net, lambda step, way: True)
    parts = {end: frozenset(reach(graph, takers(net).get(end, ()))) for end in end_events(net, fail)}
    apart = [end for end, part in parts.items() if is_apart(net, part, end, alive)]
    found = [_alone(net, end, parts[end], budget) for end in apart]
    known = alive.union(*(cleanup.alive for cleanup in found))
    fed = frozenset().union(*(part for end, part in parts.items() if end not in apart))
    late = _past_ends(net, graph) if parts else frozenset[int]()
    if fed or not late & drawn_alive(net) <= known:
        found.append(_with_run(net, fed, fed | late, known, budget))
    return found


def _past_ends(net: Net, graph: Graph) -> frozenset[int]:
    """Steps that an outside event may set going in the clean-up alone: there an exit that ends the run leads on."""
    taking = takers(net)
    woken = reach(graph, {taker for name in net.outside_names() for taker in taking.get(name, ())})
    ends = [way for index in woken for way in net.steps[index].exits if ends_run(way)]
    fired = {name for way in ends for name in way.fires if name not in ENDINGS}
    return frozenset(reach(graph, {taker for name in fired for taker in taking.get(name, ())}))


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
    return CleanUp(end, _woken(space), space, no_end, space.complete)


def _with_run(
    net: Net, fed: frozenset[int], part: frozenset[int], known: frozenset[int], budget: Budget
) -> CleanUp:
    """First a quick look, which finds only what is there; every order of everything where that leaves a question."""
    machine = Machine(net, Scope(ends=_never, prune=False))
    turning = _loops(net, fed) and not net.endless
    piles = not bounded(machine)  # the weights do not prove that nothing piles up: the search must
    covers = any(event.many for event in net.outside) or piles
    asked = (part & drawn_alive(net)) - known
    space = explore_ends(machine, Plan(*independent(machine), covers=covers), budget, asked)
    complete = space.found is not None
    if turning or piles or not complete:
        space = explore_ends(machine, Plan(covers=covers, edges=turning), budget)
        complete = space.complete
    lost = _lost(space) if turning and complete else set[int]()
    return CleanUp(None, _woken(space), space, space.trace(min(lost)) if lost else None, complete)


def _loops(net: Net, part: frozenset[int]) -> bool:
    """Whether the clean-up has a loop that turns without a failure."""
    smooth = step_graph(net, lambda step, way: not way.failure)
    return bool(loops([heads & part if tail in part else set() for tail, heads in enumerate(smooth)]))


def _lost(space: Space) -> set[int]:
    """States of the clean-up from which it cannot come to its end; none are told where debts were counted too low."""
    machine = space.machine
    if any(state[place] == LEAST_OWED for place in machine.signed for state in space.states):
        return set()
    closed = {number for number, state in enumerate(space.states) if state[machine.end]}
    return closed - can_reach(space, [number for number in space.rests if number in closed])


def drawn_alive(net: Net) -> frozenset[int]:
    """Steps that the drawing does not show to be dead (S3)."""
    fail = FAIL in net.fired or any(way.put_off for step in net.steps for way in step.exits)
    return fillable(net, main_names(net) | set(end_events(net, fail)), lambda step, way: True)


def _woken(space: Space) -> frozenset[int]:
    return frozenset(space.machine.rules[rule].step for rule in space.alive)


def _never(way: Exit) -> bool:
    return False
