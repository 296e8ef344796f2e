"""Each planted bug is found by the checker that is there for it, within a few seeds."""

from __future__ import annotations

import pytest

from tests.simulation.engine import EnginePlug
from tests.simulation.planted import BUGS, Bug
from tests.simulation.world import Scale, simulate

SEEDS = (0, 9, 11, 5, 3, 2, 1, *range(12, 32))
"""Those that find much come first: that saves time and decides nothing."""


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_planted_bug_is_found(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.plant(monkeypatch)

    found = (simulate(EnginePlug(), seed, Scale(calm=200), most_steps=100_000).found for seed in SEEDS)

    assert any(bug.checker in each for each in found)
