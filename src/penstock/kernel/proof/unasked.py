"""A run that fails although nothing failed: FAIL reached with every step done and nothing from outside."""

from __future__ import annotations

from typing import NamedTuple

from penstock.kernel.net import FAIL, START, Exit, Net, Step
from penstock.kernel.proof.counterexample import tell_firing
from penstock.kernel.proof.machine import Machine, Scope
from penstock.kernel.proof.search import Budget
from penstock.kernel.proof.structure import fillable, main_names, reach, reverse, step_graph
from penstock.kernel.proof.survey import shape_of, survey
from penstock.kernel.proof.trace import Fire, Trace


class Answer(NamedTuple):
    trace: Trace | None
    complete: bool
    states: int


def goes_well(step: Step, way: Exit) -> bool:
    """The exit of a step that did what it was asked to: `done`, or the only exit of a task without ports."""
    return way.port in ("done", None)


def fail_without_failure(net: Net, whole: Machine, budget: Budget) -> Answer:
    """A shortest trace to FAIL over steps that are done."""
    return trace_to_fail(net, whole, Scope(follows=goes_well, arriving=(), prune=False), budget)


def trace_to_fail(net: Net, whole: Machine, scope: Scope, budget: Budget) -> Answer:
    """A shortest trace to FAIL within the scope."""

    def goes_on(step: Step, way: Exit) -> bool:
        return scope.follows(step, way) and FAIL not in way.fires

    given = {START} if scope.arriving == () else main_names(net)
    alive = fillable(net, given, goes_on)
    culprits = {i for i in alive if any(_fails(scope, net.steps[i], way) for way in net.steps[i].exits)}
    if not culprits:
        return Answer(None, True, 0)
    part = frozenset(reach(reverse(step_graph(net, goes_on)), culprits)) & alive
    machine = Machine(net, scope._replace(steps=part))
    targets = {
        number for number, rule in enumerate(machine.rules) if rule.step in culprits and not rule.begins
    }
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
