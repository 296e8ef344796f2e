"""The disk fills up again and again: what does not fit is refused, what was acknowledged stays, and all goes on.

The disk is a small one of the test's own. Where none can be mounted, writes fail as they do on a full one, and the
figures say so.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.alone import Alone, Outcome
from tests.chaos.figures import Record, tell
from tests.chaos.judging import most_succeeded
from tests.chaos.nemesis import LEAST, SCALE
from tests.chaos.rooms import MOUNTS, can_make, run_in
from tests.chaos.shimmed import Shim
from tests.waiting import within

pytestmark = pytest.mark.long(
    "tests/store/sqlite/test_writer.py::test_a_full_disk_changes_nothing_and_passes_without_a_restart"
)

TIMES = 2 * SCALE
FULL, ROOM = 1.2, 1.8
"""Seconds that there is no room, and that there is."""
PATIENCE = 60.0
EVERY = 0.06
SIZE = "48m"


async def filling(alone: Alone, disk: Path, mounted: bool) -> dict[str, Any]:
    """Somebody else fills the disk, and makes room again."""
    refused, full = alone.client.refused, 0
    for _ in range(TIMES):
        await asyncio.sleep(ROOM)  # there is room for so long
        before = refused["store_full"]
        await asyncio.to_thread(fill, disk) if mounted else alone.shim(Shim(full=True))
        await asyncio.gather(asyncio.sleep(FULL), is_refused(alone, before))  # it is full for so long
        (disk / "filler").unlink(missing_ok=True)
        alone.shim(Shim())
        full += refused["store_full"] > before
    return {
        "disks full": full,
        "refused for lack of room": refused["store_full"],
        "refused otherwise": refused.total() - refused["store_full"],
        "disk": "a small one" if mounted else "a shim (none can be mounted here)",
    }


async def is_refused(alone: Alone, before: int) -> None:
    """Wait until somebody was refused; not for ever."""
    await within(PATIENCE, lambda: alone.client.refused["store_full"] > before)


def fill(disk: Path) -> None:
    """To the last byte."""
    with (disk / "filler").open("ab", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)


def chaos(folder: Path, mounted: bool) -> Outcome:
    disk = folder / "disk"
    disk.mkdir()
    if mounted:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "chaos", disk], check=True)
    alone = Alone(folder, disk)
    return asyncio.run(alone.under_load(EVERY, lambda: filling(alone, disk, mounted)))


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path, record_property: Record) -> None:
    mounted = can_make(MOUNTS)

    figures, wrong = run_in(MOUNTS if mounted else 0, lambda: chaos(tmp_path, mounted))

    tell(record_property, "a full disk", figures)
    assert str(tmp_path) not in Path("/proc/mounts").read_text(), "a mount was left behind"
    assert wrong == {name: [] for name in wrong}
    assert figures["disks full"] >= LEAST
    assert figures["refused otherwise"] == 0
    assert most_succeeded(figures)
