"""A seed that failed: how to play it again, and which of its faults are enough."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from tests.faults import Strike, shrink
from tests.simulation.engine import EnginePlug
from tests.simulation.world import SMALL, Scale, Simulated, simulate


@cache
def commit() -> str:
    """The commit that is played."""
    asked = ["git", "rev-parse", "--short=12", "HEAD"]
    said = subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def again(seed: int, scale: Scale) -> str:
    """The command that plays a seed again and finds the faults that matter."""
    return f"python -m tests.simulation.soak --seed {seed}{' --small' if scale == SMALL else ''} --shrink"


def shrunk(failed: Simulated, scale: Scale) -> list[Strike]:
    """The few faults of a seed with which the same checkers still find something."""
    wanted = failed.found.keys()

    def fails(spared: frozenset[Strike]) -> bool:
        return bool(wanted & simulate(EnginePlug(), failed.seed, scale, spared).found.keys())

    return shrink(failed.faults.struck, fails)
