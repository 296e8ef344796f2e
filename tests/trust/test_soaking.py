"""Memory, files and the size of the store stay as they are while runs come and go.

Seconds in PENSTOCK_SOAK make it last longer: `PENSTOCK_SOAK=600` is ten minutes on each database, and finds what leaks
a few bytes a run. Growth is judged as a share, against what there was after warming up, and not by the time it takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.trust.figures import LONG, write
from tests.trust.soaking import Sample, growth

ROOT = Path(__file__).parents[2]
SAMPLES = 15
SECONDS = float(os.environ.get("PENSTOCK_SOAK") or (600 if os.environ.get(LONG) else 0))
"""0: as many rounds as there are samples, however long they take."""
MAX_GROWTH = {"memory": 0.02, "held": 0.15, "size": 0.05, "files": 0.1, "tasks": 0.1}
"""By what share each may be above what it was before.

Memory that is in use stays within a few thousandths. What the process holds of the machine has a wide bound: an
allocator that is short of time keeps a page here and there, which is no leak. Pages of the store may be half full.
"""

LOG = 64 << 20
"""Bytes that the log of a SQLite file may have."""


def soaked(url: str, seconds: float = SECONDS, leak: int = 0) -> list[Sample]:
    """The samples of a process of its own."""
    asked = [sys.executable, "-m", "tests.trust.soaking", url, "--seconds", seconds]
    asked += ["--samples", SAMPLES, "--leak", leak]
    paths = os.pathsep.join(path for path in sys.path if path)
    # Blocks of Python are then blocks of glibc, which says how many bytes are in use.
    variables = os.environ | {"PYTHONPATH": paths, "PYTHONMALLOC": "malloc"}
    done = subprocess.run(
        [str(word) for word in asked],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=seconds + 300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return msgspec.convert(json.loads(done.stdout), list[Sample])


def grown(samples: list[Sample]) -> dict[str, float]:
    """What is above its bound, and by how much."""
    found = {name: growth([getattr(each, name) for each in samples]) for name in MAX_GROWTH}
    return {name: share for name, share in found.items() if share > MAX_GROWTH[name]}


def test_nothing_grows_while_runs_come_and_go(url: str, kind: str) -> None:
    samples = soaked(url)

    last = samples[-1]
    write(f"soak-{kind}", {"runs soaked": last.runs, "seconds soaked": last.seconds})
    assert max(each.log for each in samples) <= LOG
    assert grown(samples) == {}, [(each.runs, each.memory, each.held, each.size) for each in samples]


def test_what_grows_is_seen(tmp_path: Path) -> None:
    flat = [Sample(n, n, 30 << 20, 60 << 20, 1 << 20, 0, 15, 16) for n in range(SAMPLES)]
    leaks = [Sample(n, n, 30 << 20, 60 << 20, (1 + n) << 20, 0, 15 + n, 16) for n in range(SAMPLES)]

    assert grown(flat) == {}
    assert grown(leaks).keys() == {"size", "files"}
    assert "memory" in grown(soaked(str(tmp_path / "leaks.db"), seconds=0, leak=16 << 10))
