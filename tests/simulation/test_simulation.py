"""The real nodes on a virtual clock: whatever breaks, nothing is lost, nothing happens twice, everything ends."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.engine import EnginePlug
from tests.simulation.figures import RARE, Figures
from tests.simulation.world import simulate

SEEDS = range(40)


def test_every_promise_holds_in_every_seed(record_property: Callable[[str, object], None]) -> None:
    figures = Figures()
    for seed in SEEDS:
        figures.add(simulate(EnginePlug(), seed))
    record_property("figures", figures.rows())

    assert figures.found == {}, (
        "seed → checker → what it found; `simulate(EnginePlug(), seed)` plays it again"
    )
    assert figures.tally.never(RARE) == []


def test_a_seed_is_always_the_same() -> None:
    first, again = (simulate(EnginePlug(), 5) for _ in range(2))

    assert first.fingerprint == again.fingerprint
    assert first.faults.struck == again.faults.struck
