"""Each planted bug is found by its checker, which has nothing to say about the same seed without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.simulation.engine import EnginePlug
from tests.simulation.planted import BUGS, Bug
from tests.simulation.world import Scale, simulate

SEEDS = (0, 9, 11, 5, 14, 3, 2, 1, *range(15, 40))
"""Those that find much come first: that saves time and decides nothing."""


def found(seed: int) -> frozenset[str]:
    """The checkers that have something to say."""
    return frozenset(simulate(EnginePlug(), seed, Scale(calm=250), most_steps=100_000).found)


found_without = cache(found)


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_planted_bug_is_found(
    bug: Bug, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    with monkeypatch.context() as patch:
        bug.plant(patch)
        caught = next((seed for seed in SEEDS if bug.checker in found(seed)), None)

    record_property("planted", {"scar": bug.scar, "name": bug.name, "seed": caught})
    assert caught is not None, f"{bug.checker} did not find '{bug.name}' in {len(SEEDS)} seeds"
    assert bug.checker not in found_without(caught), f"seed {caught} fails without '{bug.name}' too"


def test_at_least_twelve_scars_of_neighbours_are_planted() -> None:
    assert len({bug.scar for bug in BUGS if bug.scar.startswith("N")}) >= 12
