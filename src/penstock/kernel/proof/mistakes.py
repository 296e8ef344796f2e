"""Mistakes that need a search of their own: a step that fires twice, a failure of nothing, a clean-up that goes wrong.

A clean-up is what runs after FAIL, CANCEL or TIMEOUT. It ends when nothing moves, so it cannot deadlock.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from penstock.kernel.net import CANCEL, ENDINGS, FAIL, START, TIMEOUT, Exit, Net, Step
from penstock.kernel.proof.analysis import Answer
from penstock.kernel.proof.closing import explore_ends
from penstock.kernel.proof.counterexample import tell_firing
from penstock.kernel.proof.machine import LEAST_OWED, Machine, Scope
from penstock.kernel.proof.search import (
    Amount,
    Budget,
    Flow,
    Goal,
    Group,
    Plan,
    Shape,
    Space,
    bounded,
    can_reach,
    flows,
    given,
    independent,
    most_firings,
    shape_of,
    survey,
)
from penstock.kernel.proof.structure import (
    Graph,
    ends_run,
    fillable,
    finishing_order,
    loops,
    main_names,
    reach,
    reverse,
    step_graph,
    takers,
    upstream,
)
from penstock.kernel.proof.trace import Fire, Trace

MANY = 10**6


# -- an either/or join below a parallel split: steps outside any loop that fire more than once ----------------


def fires_twice(
    net: Net, whole: Machine, alive: frozenset[int], shape: Shape, budget: Budget
) -> Answer[dict[str, Trace]]:
    """Each step where doubling begins, with a trace; steps that only pass it on are left out."""
    found: dict[str, Trace] = {}
    graph = step_graph(net)
    counted = _Count(net)
    spoiled = _fed_again_and_again(net, graph) | set(shape.looping)
    complete, states = True, 0
    for step in reversed(finishing_order(graph)):
        if budget.out_of_time():
            return Answer(found, False, states)
        if step in spoiled or step not in alive or _ends_at_once(net, step) or counted.at_most_once(step):
            continue
        space = _search(net, step, shape, budget)
        complete = complete and (space.complete or space.found is not None)
        states += len(space.states)
        if space.found is not None:
            told = _shown_twice(net, step, whole, space, budget)
            complete = complete and told is not None
            found.update({net.steps[step].name: told} if told is not None else {})
            spoiled |= reach(graph, {step})
        elif space.complete:
            counted.once(step)
    return Answer(found, complete, states)


def _fed_again_and_again(net: Net, graph: list[set[int]]) -> set[int]:
    many = {event.name for event in net.outside if event.many}
    roots = {i for i, step in enumerate(net.steps) if any(many & set(slot.events) for slot in step.slots)}
    return reach(graph, roots)


def _ends_at_once(net: Net, step: int) -> bool:
    return all(ends_run(way) for way in net.steps[step].exits)


class _Count:
    """How often steps can fire at most, by the drawing: first by adding up, then by weights."""

    def __init__(self, net: Net) -> None:
        self.machine = Machine(net, Scope(prune=False))
        self.parts: list[Flow] = flows(self.machine)
        self.most: dict[int, Amount] = {}
        self.given: dict[Group, int] = {}
        self.feeds: dict[Group, dict[int, int]] = {}
        self._gather()

    def _gather(self) -> None:
        machine = self.machine
        for place, count in given(machine):
            spot = (machine.places[place].step, machine.places[place].slot)
            self.given[spot] = self.given.get(spot, 0) + count
        for flow in self.parts:
            for put in flow.puts:
                for group, count in put.items():
                    if isinstance(group, tuple):
                        into, step = self.feeds.setdefault(group, {}), machine.rules[flow.rule].step
                        into[step] = max(count, into.get(step, 0))

    def _tokens(self, group: Group) -> Amount:
        total: Amount = self.given.get(group, 0)
        for feeder, count in self.feeds.get(group, {}).items():
            total += self.most.get(feeder, MANY) * count
        slot = self.machine.net.steps[group[0]].slots[group[1]]
        return total if slot.wanted == 1 else Fraction(total) / slot.wanted

    def _anchor(self, step: int) -> Group:
        groups = [(step, number) for number in range(len(self.machine.net.steps[step].slots))]
        return min(groups, key=self._tokens)

    def at_most_once(self, step: int) -> bool:
        self.most[step] = min(self._tokens(self._anchor(step)), MANY)
        if self.most[step] >= 2:
            weighed = most_firings(self.machine, self.parts, step, self._anchor)
            self.most[step] = min(self.most[step], weighed) if weighed >= 0 else self.most[step]
        return self.most[step] < 2

    def once(self, step: int) -> None:
        self.most[step] = 1


def _search(net: Net, step: int, shape: Shape, budget: Budget) -> Space:
    cancels = any(one.cancels for one in net.steps)  # then what else moves decides how long events may come
    part = None if cancels else frozenset(reach(reverse(step_graph(net)), {step}))
    machine = Machine(net, Scope(steps=part, prune=False, watch=step))
    return survey(machine, shape, budget, goal=_again(machine, step))


def _again(machine: Machine, step: int) -> Goal:
    mine = {number for number, rule in enumerate(machine.rules) if rule.step == step}
    watch = machine.watch
    return lambda state, ready: state[watch] == 1 and not mine.isdisjoint(ready)


def _shown_twice(net: Net, step: int, whole: Machine, space: Space, budget: Budget) -> Trace | None:
    name = net.steps[step].name
    last = Fire(name, net.steps[step].exits[0].port)

    def keeps(trace: Trace) -> bool:
        return sum(isinstance(item, Fire) and item.step == name for item in trace) >= 2

    return tell_firing(whole, space, lambda state: last, keeps, budget)


# -- FAIL reached with every step done and nothing from outside -----------------------------------------------


def fail_without_failure(net: Net, whole: Machine, budget: Budget) -> Answer[Trace | None]:
    """A shortest trace to FAIL over steps that are done."""
    # What a step that did as it was asked ends on: `done`, or the only exit of a task without ports.
    scope = Scope(follows=lambda step, way: way.port in ("done", None), arriving=(), prune=False)
    return trace_to_fail(net, whole, scope, budget)


def trace_to_fail(net: Net, whole: Machine, scope: Scope, budget: Budget) -> Answer[Trace | None]:
    """A shortest trace to FAIL within the scope."""

    def goes_on(step: Step, way: Exit) -> bool:
        return scope.follows(step, way) and FAIL not in way.fires

    alive = fillable(net, {START} if scope.arriving == () else main_names(net), goes_on)
    culprits = {i for i in alive if any(_fails(scope, net.steps[i], way) for way in net.steps[i].exits)}
    if not culprits:
        return Answer(None, True, 0)
    part = frozenset(upstream(net, step_graph(net, goes_on), culprits)) & alive
    machine = Machine(net, scope._replace(steps=part))
    rules = enumerate(machine.rules)
    targets = {number for number, rule in rules if rule.step in culprits and not rule.begins}
    space = survey(machine, shape_of(net), budget, goal=lambda state, ready: not targets.isdisjoint(ready))
    if space.found is None:
        return Answer(None, space.complete, len(space.states))
    trace = tell_firing(whole, space, lambda state: _last(machine, state, targets), lambda _: True, budget)
    return Answer(trace, trace is not None, len(space.states))


def _fails(scope: Scope, step: Step, way: Exit) -> bool:
    return scope.follows(step, way) and FAIL in way.fires


def _last(machine: Machine, state: tuple[int, ...], targets: set[int]) -> Fire:
    rule = machine.rules[min(rule for rule in targets if machine.rules[rule].enabled(state))]
    step = machine.net.steps[rule.step]
    way = next(way for way in step.exits if _fails(machine.scope, step, way))
    return Fire(step.name, way.port)


# -- clean-ups ------------------------------------------------------------------------------------------------


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
    apart = [end for end, part in parts.items() if is_apart(net, part, alive)]
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


def is_apart(net: Net, part: frozenset[int], alive: frozenset[int]) -> bool:
    """Whether only the end event and steps that never fire before it feed these steps (S11)."""
    fed = main_names(net)
    for index, step in enumerate(net.steps):
        if index not in part or index in alive:
            fed.update(name for way in step.exits for name in way.fires if name not in ENDINGS)
    return not any(fed.intersection(slot.events) for index in part for slot in net.steps[index].slots)


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
    """First a quick look, which finds only what exists; every order of everything where that leaves a question."""
    machine = Machine(net, Scope(ends=_never, prune=False))
    turning = _loops(net, fed) and not net.endless
    piles = not bounded(machine)  # the weights do not prove that nothing piles up: the search must
    covers = bool(machine.recurring) or piles
    asked = (part & drawn_alive(net)) - known
    space = explore_ends(machine, Plan(*independent(machine), covers=covers, late=True), budget, asked)
    complete = space.found is not None
    if turning or piles or not complete:
        space = explore_ends(machine, Plan(covers=covers, edges=turning, late=True), budget)
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
    return frozenset(space.machine.rules[rule].step for rule in space.alive) | space.woken


def _never(way: Exit) -> bool:
    return False
