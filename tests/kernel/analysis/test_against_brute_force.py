"""The proof says of random nets what playing out every run says."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from tests.kernel.analysis.brute import World, fires_twice, steps_to_unasked_failure
from tests.kernel.analysis.strategies import nets

from penstock.kernel.net import Net
from penstock.kernel.proof.analysis import Analysis
from penstock.kernel.proof.machine import Machine
from penstock.kernel.proof.search import Budget, plain_search, shape_of, survey
from penstock.kernel.proof.soundness import analyse
from penstock.kernel.proof.structure import reach, step_graph

often = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def length(trace: tuple[object, ...] | None) -> int | None:
    return None if trace is None else len(trace)


def same_facts(net: Net, world: World, found: Analysis, lengths: bool) -> None:
    """Whether both say the same. With cancel regions the brute force lets steps begin late, which no engine does:
    a standstill that it sees need not be one (tests/flow/test_proof_and_runs.py compares with the engine itself)."""
    dead = {step.name for step in net.steps} - world.alive()
    assert set(found.dead) == dead
    stalled, left = world.shortest(world.rests("stalled")), world.shortest(world.left_at_joins())
    deadlock = None if found.deadlock is None else found.deadlock.trace
    leftover = None if found.leftover is None else found.leftover.trace
    if lengths:
        assert (length(deadlock), length(leftover)) == (stalled, left)
    elif any(step.cancels for step in net.steps):
        assert deadlock is None or stalled is not None
        assert (leftover is None) == (left is None)
    else:
        assert (deadlock is None) == (stalled is None)
        assert leftover is None or left is not None
        # Beside a cancel region the runs here let a step begin late, which the engine and the proof do not (S18).
        assert left is None or leftover is not None or any(step.cancels for step in net.steps)
    lost = world.shortest(world.lost())
    assert length(found.no_end) == lost if lengths else (found.no_end is None) == (lost is None)


def compare(net: Net, split: bool = False, lengths: bool = True) -> None:
    """Fails where the proof says of the net what its runs deny."""
    world = World(net, split)
    if not world.full and not world.piled:
        return  # too many runs to play out
    found = analyse(net, states=20_000)
    assert (found.unbounded is not None) == world.piled
    if world.full:
        assert found.complete
        same_facts(net, world, found, lengths)


@often
@given(nets(needs=False))
def test_s1_plain_nets_as_in_every_run(net: Net) -> None:
    compare(net, split=False, lengths=True)


@often
@given(nets(needs=True))
def test_s4_nets_with_slots_that_need_some_as_in_every_run(net: Net) -> None:
    compare(net, split=False, lengths=True)


@often
@given(nets(needs=True, cancels=True, size=4))
def test_s8_nets_with_cancel_regions_as_in_every_run(net: Net) -> None:
    compare(net, split=False, lengths=False)


@often
@given(nets(needs=True, size=4))
def test_s2_a_firing_that_takes_time_shows_nothing_else(net: Net) -> None:
    compare(net, split=True, lengths=False)


def compare_rests(net: Net) -> None:
    """Fails where the search over counts alone takes other states for a standstill than the runs."""
    space = survey(Machine(net), shape_of(net), Budget(3_000, lambda: False))
    assert ("stalled" in space.rests.values()) == bool(World(net).rests("stalled"))


def compare_doubles(net: Net) -> None:
    """Fails where the proof and the runs differ on which steps outside loops fire twice."""
    if not World(net).full:
        return
    found = analyse(net, states=20_000)
    graph = step_graph(net)
    looping = {i for i in range(len(net.steps)) if i in reach(graph, graph[i])}
    doubled = {i for i, step in enumerate(net.steps) if i not in looping and fires_twice(net, step.name)}
    roots = {i for i, step in enumerate(net.steps) if step.name in found.fires_twice}
    assert roots <= doubled <= reach(graph, roots)


@often
@given(nets(needs=True))
def test_s13_steps_that_fire_twice_as_in_every_run(net: Net) -> None:
    compare_doubles(net)


@often
@given(nets(needs=True))
def test_s14_failing_without_a_failure_as_in_every_run(net: Net) -> None:
    assume(World(net).full)
    found = analyse(net, states=20_000)
    assert length(found.fail_without_failure) == steps_to_unasked_failure(net)


@often
@given(nets(needs=True, cancels=True, size=6))
def test_s7_the_reduced_search_sees_what_the_plain_one_sees(net: Net) -> None:
    machine, shape, budget = Machine(net), shape_of(net), Budget(3_000, lambda: False)
    plain = plain_search(machine, budget, edges=True)
    assume(plain.complete)
    reduced = survey(machine, shape, budget)

    assert reduced.complete
    assert len(reduced.states) <= len(plain.states)
    assert {reduced.states[i]: m for i, m in reduced.rests.items() if m == "stalled"} == {
        plain.states[i]: m for i, m in plain.rests.items() if m == "stalled"
    }
    assert reduced.alive == plain.alive
