"""The real nodes on a virtual clock: whatever breaks, nothing is lost, nothing happens twice, everything ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.simulation.engine import EnginePlug
from tests.simulation.figures import Figures
from tests.simulation.replaying import again, commit, shrunk
from tests.simulation.world import SMALL, Scale, simulate
from tests.suites import first_short
from tests.trust.figures import FOLDER

LONGER = 2 if os.environ.get("PENSTOCK_TRUST") else 1
"""How many times as many seeds are played where there is time."""

BIG = range(30 * LONGER)
PART = 50
PARTS = [range(first, first + PART) for first in range(0, 2000 * LONGER, PART)]
"""Small seeds, in parts that any process can take."""
SHORT = 2
"""Parts that everybody plays."""

Record = Callable[[str, object], None]


def play(seeds: range, scale: Scale, record: Record) -> Figures:
    """What these seeds come to. Fails with the command that plays the first bad one again."""
    figures = Figures()
    for seed in seeds:
        figures.add(simulate(EnginePlug(), seed, scale))
    record("figures", figures.part())
    bad = next(iter(figures.found), 0)
    assert figures.found == {}, f"seed → checker → what it found, at commit {commit()}; {again(bad, scale)}"
    return figures


@pytest.mark.parametrize("seeds", first_short(PARTS, SHORT), ids=[f"{part[0]}-{part[-1]}" for part in PARTS])
def test_every_promise_holds_in_many_small_worlds(seeds: range, record_property: Record) -> None:
    play(seeds, SMALL, record_property)


@pytest.mark.long("test_every_promise_holds_in_many_small_worlds")
def test_every_promise_holds_in_big_worlds_and_every_rare_path_is_taken(record_property: Record) -> None:
    figures = play(BIG, Scale(), record_property)

    assert figures.never() == []


def test_a_seed_is_always_the_same() -> None:
    first, second = (simulate(EnginePlug(), 5, SMALL) for _ in range(2))

    assert first.fingerprint == second.fingerprint
    assert first.faults.struck == second.faults.struck


def test_a_seed_is_the_same_in_every_process() -> None:
    """Texts have another hash in each, and with it sets and maps another order."""
    played = [_played(51, texts) for texts in ("1", "2")]

    assert played[0] == played[1]


def _played(seed: int, texts: str) -> list[str]:
    command = [sys.executable, "-m", "tests.simulation.soak", "--seed", str(seed)]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": texts,
        FOLDER: "",
    }  # its figures are those of the tests already
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return [line for line in shown.stdout.splitlines() if "seconds" not in line]


def test_of_the_faults_of_a_seed_those_that_matter_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.simulation.planted import BUGS

    [bug] = [each for each in BUGS if each.name == "repeated report is refused"]
    bug.plant(monkeypatch)
    failed = simulate(EnginePlug(), 0, SMALL)
    few = shrunk(failed, SMALL)

    assert bug.checker in failed.found
    assert 0 < len(few) < len(failed.faults.struck) / 2
