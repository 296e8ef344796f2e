"""The real nodes on a virtual clock: whatever breaks, nothing is lost, nothing happens twice, everything ends."""

from __future__ import annotations

from penstock.testing.faults import Tally
from tests.simulation.engine import EnginePlug
from tests.simulation.world import simulate

SEEDS = range(12)

RARE = (
    "a customer asks again",
    "an event comes before its run",
    "an event is a duplicate",
    "a report is repeated",
    "a report is superseded",
    "a worker learns that its lease is lost",
    "work given back",
    "node.killed",
    "node.paused",
    "worker.killed",
    "worker.paused",
    "store.cut",
    "store.commit.lost",
    "store.commit.refused",
    "store.lease.lost",
    "gate.report.lost",
    "gate.report.twice",
)
"""What must have happened in some seed: else the simulation says nothing about it."""


def test_every_promise_holds_in_every_seed() -> None:
    tally, found = Tally(), dict[int, dict[str, list[str]]]()

    for seed in SEEDS:
        simulated = simulate(EnginePlug(), seed)
        tally.add(simulated.faults)
        if simulated.found:
            found[seed] = simulated.found

    assert found == {}
    assert tally.never(RARE) == []


def test_a_seed_is_always_the_same() -> None:
    first, again = (simulate(EnginePlug(), 5) for _ in range(2))

    assert first.fingerprint == again.fingerprint
    assert first.faults.struck == again.faults.struck
