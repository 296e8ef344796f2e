"""The disk takes long to write what it was told, again and again: all waits, and nothing is lost."""

from __future__ import annotations

import asyncio
from functools import partial
from operator import le
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.alone import Alone
from tests.chaos.figures import Record, tell
from tests.chaos.judging import most_succeeded
from tests.chaos.nemesis import LEAST, SCALE
from tests.chaos.shimmed import Shim
from tests.waiting import until

pytestmark = pytest.mark.long(
    "tests/simulation/test_simulation.py::test_every_promise_holds_in_many_small_worlds"
)

TIMES = 2 * SCALE
SLOW, QUICK = 3.0, 1.0
"""Seconds that the disk is slow, and that it is not."""
SYNC = (0.3, 2.5)
"""Seconds that a write takes then: also longer than the leases of two."""
EVERY = 0.2
PATIENCE = 60.0


async def slowing(alone: Alone) -> dict[str, Any]:
    for number in range(TIMES):
        await asyncio.sleep(QUICK)  # the disk is quick for so long
        before = alone.slow_syncs
        alone.shim(Shim(sync=SYNC[number % len(SYNC)]))
        await asyncio.sleep(SLOW)  # the disk is slow for so long
        await until(lambda: alone.slow_syncs, "two slow commits", PATIENCE, so=partial(le, before + 2))
        alone.shim(Shim())
    return {"slow fsyncs": alone.slow_syncs}


def test_a_slow_disk_loses_and_doubles_nothing(tmp_path: Path, record_property: Record) -> None:
    alone = Alone(tmp_path, tmp_path)

    figures, wrong = asyncio.run(alone.under_load(EVERY, lambda: slowing(alone)))

    tell(record_property, "a slow disk", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["slow fsyncs"] >= LEAST
    assert figures["slowest operation, seconds"] >= max(SYNC)
    assert most_succeeded(figures)
