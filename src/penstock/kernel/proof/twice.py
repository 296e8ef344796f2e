"""Steps outside any loop that can fire more than once in a run: an either/or join below a parallel split."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from penstock.kernel.net import Net
from penstock.kernel.proof.counterexample import tell_firing
from penstock.kernel.proof.machine import Machine, Scope
from penstock.kernel.proof.search import Budget, Goal, Space
from penstock.kernel.proof.structure import ends_run, finishing_order, reach, reverse, step_graph
from penstock.kernel.proof.survey import Shape, survey
from penstock.kernel.proof.trace import Fire, Trace
from penstock.kernel.proof.weights import Amount, Flow, Group, flows, most_firings

MANY = 10**6


class Answer(NamedTuple):
    traces: dict[str, Trace]
    complete: bool
    states: int


def fires_twice(net: Net, whole: Machine, alive: frozenset[int], shape: Shape, budget: Budget) -> Answer:
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
        begun = [(machine.initial[place], place) for place in range(len(machine.places))]
        begun += [(count, place) for _, move in machine.arrivals for place, count in move.adds]
        for count, place in begun:
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
    part = frozenset(reach(reverse(step_graph(net)), {step}))
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
