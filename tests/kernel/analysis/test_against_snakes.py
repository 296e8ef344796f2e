"""Plain nets have the reachable markings that SNAKES finds."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from tests.kernel.analysis.strategies import nets

from penstock.kernel.net import Net
from penstock.kernel.proof.machine import Machine, every_exit
from penstock.kernel.proof.search import Budget, plain_search

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SNAKES still imports a module that Python calls deprecated
    import snakes.nets as snakes

MOST = 300


def as_snakes(machine: Machine) -> Any:
    """The places and moves of a machine as a net of SNAKES."""
    made = snakes.PetriNet("net")
    for number in range(len(machine.places)):
        made.add_place(snakes.Place(str(number), [snakes.dot] * machine.initial[number]))
    moves = [
        (bind, move)
        for rule in machine.rules
        for bind, part in zip(rule.binds, rule.moves, strict=True)
        for move in part
    ]
    for number, (bind, move) in enumerate(moves):
        name = f"t{number}"
        made.add_transition(snakes.Transition(name))
        for place in bind.takes:
            made.add_input(str(place), name, snakes.Value(snakes.dot))
        puts = dict(move.adds)
        for place in {*puts, *bind.takes}:
            count = puts.get(place, 0) + bind.takes.count(place)
            if count:
                made.add_output(str(place), name, snakes.MultiArc([snakes.Value(snakes.dot)] * count))
    return made


def markings(made: Any, places: int) -> set[tuple[int, ...]] | None:
    """Every marking that SNAKES reaches; None where there are too many."""
    graph = snakes.StateGraph(made)
    for _ in graph:
        if len(graph) > MOST:
            return None
    found = set()
    for state in graph:
        graph.goto(state)
        marking = graph.net.get_marking()
        found.add(tuple(len(marking(str(number))) for number in range(places)))
    return found


@settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
@given(nets(needs=False, outside=False, size=4))
def test_s2_plain_nets_reach_the_markings_that_snakes_finds(net: Net) -> None:
    machine = every_exit(net)
    theirs = markings(as_snakes(machine), len(machine.places))
    assume(theirs is not None)

    space = plain_search(
        machine, Budget(10 * MOST, lambda: False), edges=False, goal=lambda state, ready: False
    )

    assert {state[: len(machine.places)] for state in space.states} == theirs
