"""How a machine is searched so that little is seen and nothing is missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from penstock.kernel.net import Exit, Net
from penstock.kernel.proof.machine import Machine, Rule
from penstock.kernel.proof.search import Budget, Goal, Plan, Space, explore
from penstock.kernel.proof.structure import ends_run, loop_heads, loops, reach, step_graph
from penstock.kernel.proof.weights import bounded


class Shape(NamedTuple):
    """What the drawing says about loops: all of them, and those that turn without any failure."""

    looping: frozenset[int]
    heads: frozenset[int]  # one at least on every loop
    turning: bool
    beyond: frozenset[int]  # on a loop or fed by one


def shape_of(net: Net, ends: Callable[[Exit], bool] = ends_run) -> Shape:
    graph = step_graph(net, lambda step, way: not ends(way))
    looping = frozenset(step for loop in loops(graph) for step in loop)
    smooth = step_graph(net, lambda step, way: not way.failure and not ends(way))
    turning = bool(loops(smooth)) or any(event.many for event in net.outside)
    return Shape(looping, loop_heads(graph), turning, frozenset(reach(graph, looping)))


def survey(machine: Machine, shape: Shape, budget: Budget, goal: Goal | None = None) -> Space:
    """All that the machine can do, up to the order of firings that do not touch each other."""
    free, patient = independent(machine)
    many = any(event.many for event in machine.arriving)
    safe = not shape.looping or bounded(machine)
    looping = bool(shape.looping) or shape.turning
    plan = Plan(free, patient, covers=many or not safe, edges=looping, goal=goal)
    if safe:
        space = explore(machine, plan, budget)
        space.relaxed = many
        if not looping or space.found is not None or not space.complete or not _stuck(space):
            return space
    held = shape.heads if safe else shape.beyond
    eager = frozenset(rule for rule in free if machine.rules[rule].step not in held)
    space = explore(machine, plan._replace(eager=eager), budget)
    space.relaxed = many
    return space


def plain_search(machine: Machine, budget: Budget, edges: bool, goal: Goal | None = None) -> Space:
    """Every order of everything: slow, and the first path found is a shortest one."""
    many = any(event.many for event in machine.arriving)
    return explore(machine, Plan(covers=many or goal is None, edges=edges, goal=goal), budget)


def independent(machine: Machine) -> tuple[frozenset[int], frozenset[str]]:
    """Rules that commute with all others, and outside events that commute with all rules (S7, S8)."""
    touchy = touchy_places(machine)
    free = frozenset(
        number
        for number, rule in enumerate(machine.rules)
        if not rule.begins and any(rule.moves) and _commutes(machine, rule, touchy)
    )
    patient = frozenset(
        event.name for event, move in machine.arrivals if not any(place in touchy for place, _ in move.adds)
    )
    return free, patient


def touchy_places(machine: Machine) -> frozenset[int]:
    """Places where order matters: those a cancel region empties, and those from which a firing takes by choice."""
    found: set[int] = set()
    for rule in machine.rules:
        for part in rule.moves:
            found.update(place for move in part for place in move.clears)
        if len(rule.binds) > 1:
            found.update(place for bind in rule.binds for place in bind.takes)
        found.update(flag for bind in rule.binds for flag in bind.down)
    return frozenset(found)


def _commutes(machine: Machine, rule: Rule, touchy: frozenset[int]) -> bool:
    fails_only = all(way.failure for way in machine.net.steps[rule.step].exits)
    used = {place for bind in rule.binds for place in bind.takes}
    used |= {place for part in rule.moves for move in part for place, _ in move.adds}
    return not fails_only and not used & touchy


def _stuck(space: Space) -> bool:
    """Whether some state cannot come to a stop without a failure: then waiting steps may have been passed over."""
    stops = [number for number in range(len(space.states)) if not space.edges.get(number)]
    return len(can_reach(space, stops)) < len(space.states)


def can_reach(space: Space, targets: list[int]) -> set[int]:
    """States from which a target can be reached while no step fails."""
    back: dict[int, list[int]] = {}
    for tail, heads in space.edges.items():
        for head, failure in heads:
            if not failure:
                back.setdefault(head, []).append(tail)
    seen, stack = set(targets), list(targets)
    while stack:
        for tail in back.get(stack.pop(), ()):
            if tail not in seen:
                seen.add(tail)
                stack.append(tail)
    return seen
