"""Each planted bug is found by its checker, and nobody has anything to say about the same seed without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from msgspec.structs import replace

from tests.simulation.checkers import CHECKERS
from tests.simulation.engine import EnginePlug
from tests.simulation.guarantees import GUARANTEES
from tests.simulation.planted import BUGS
from tests.simulation.planting import Bug
from tests.simulation.world import SMALL, Scale, simulate

BIG = Scale(calm=150)
LITTLE = replace(SMALL, calm=150)
SERIAL = replace(LITTLE, runs=6, shapes=("serial",))
LONG = replace(LITTLE, runs=6, troubled=20.0, shapes=("cancel", "serial"))
CANCELS = replace(LITTLE, runs=8, shapes=("cancel",))
CHAINS = replace(LITTLE, runs=6, shapes=("chain",))
SEEN = Scale(calm=150, runs=8, after=False, crowd=0, clock=0.0, shapes=("chain", "branch", "flaky"))
CROWD = Scale(calm=150, runs=2, after=False, clock=0.0, crowd=20, troubled=10.0)
QUEUED = replace(LITTLE, workers=1, runs=12, troubled=10.0, shapes=("chain",))
STOPPED = replace(LITTLE, runs=6, troubled=2.0, after=True, shapes=("chain", "branch", "serial"))
TICKING = replace(LITTLE, runs=1, troubled=30.0, clock=1.0)

FIRST: dict[str, tuple[Scale, int]] = {
    "no fence": (LITTLE, 9),
    "stale rescue": (LITTLE, 29),
    "heartbeat without a fence": (LONG, 6),
    "reaper that must know the task": (LITTLE, 6),
    "a loop that dies": (LITTLE, 11),
    "message gone when handed out": (LITTLE, 4),
    "history shown with a gap": (LITTLE, 6),
    "only tasks of workers that attend": (LITTLE, 39),
    "heartbeat that extends nothing": (BIG, 0),
    "unreadable row that stops the others": (BIG, 0),
    "stop that does not wait": (STOPPED, 0),
    "paused tasks handed out": (QUEUED, 0),
    "stale cache": (BIG, 0),
    "lock leak": (SERIAL, 0),
    "key for everybody": (SERIAL, 0),
    "result acknowledged too early": (BIG, 0),
    "cancel acknowledged too early": (CANCELS, 8),
    "old list": (BIG, 0),
    "shown from memory": (SEEN, 0),
    "newest version for all": (CHAINS, 1),
    "missed ticks are dropped": (TICKING, 1),
    "tick without its key": (TICKING, 7),
    "refused when it is done": (CROWD, 0),
}
"""Where a bug is looked for first: that saves time and decides nothing."""

MORE = 20
"""Seeds of each scale that are tried."""


def found(seed: int, scale: Scale) -> frozenset[str]:
    """The checkers that have something to say."""
    return frozenset(simulate(EnginePlug(), seed, scale, most_steps=100_000).found)


found_without = cache(found)


def tries(bug: Bug) -> Iterator[tuple[Scale, int]]:
    """Where to look for a bug."""
    scale, first = FIRST.get(bug.name, (LITTLE, 0))
    yield scale, first
    for each in (scale, LITTLE, BIG):
        yield from ((each, seed) for seed in range(MORE))


@pytest.mark.long("test_what_is_planted_is_found")
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_planted_bug_is_found(
    bug: Bug, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    with monkeypatch.context() as patch:
        bug.plant(patch)
        caught = next(
            ((scale, seed) for scale, seed in tries(bug) if bug.checker in found(seed, scale)), None
        )

    record_property(
        "planted", {"scar": bug.scar, "name": bug.name, "seed": None if caught is None else caught[1]}
    )
    assert caught is not None, f"{bug.checker} did not find '{bug.name}'"
    assert found_without(caught[1], caught[0]) == frozenset(), f"seed {caught} fails without '{bug.name}' too"


def test_at_least_twelve_scars_of_neighbours_are_planted() -> None:
    assert len({bug.scar for bug in BUGS if bug.scar.startswith("N")}) >= 12


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_each_guarantee_has_a_checker_that_finds_a_planted_bug(guarantee: str) -> None:
    checkers = {checker.__name__ for checker in GUARANTEES[guarantee]}

    assert checkers & {bug.checker for bug in BUGS}


def test_every_checker_is_for_a_guarantee_or_for_all() -> None:
    named = {checker for checkers in GUARANTEES.values() for checker in checkers}

    assert named <= set(CHECKERS)
