"""Run every test. A few that fail among the others are tried once more, alone; those that then hold are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
MOST = 5
"""Failures that may come of a machine that had too much to do; more of them are a fault, and are not tried again."""
TESTS_FAILED = 1
"""How pytest ends where tests failed; everything else it ends with is worse."""


BESIDE = "4"
"""Tests at a time on two cores: most of them wait for something half of the time."""
MEASURE = ("tests/bench", "tests/chaos", "tests/web/test_editor_speed.py", "tests/web/test_pages_speed.py")
"""What measures, or starves real processes: it would find out how busy the others keep the machine."""


def run(*given: str) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *given])


def run_all(given: list[str]) -> tuple[int, list[str]]:
    """How it ended, and the tests that failed."""
    there = [path for path in MEASURE if Path(path).exists()]
    parts = [["-n", BESIDE, *(f"--ignore={path}" for path in there)]]
    if there:
        parts.append(["-n", "2", *there])
    failed: set[str] = set()
    ended = 0
    for part in parts:
        FAILED.unlink(missing_ok=True)
        found = run(*part, *given)
        if found not in (0, TESTS_FAILED):
            return found, []
        ended = ended or found
        failed |= set(json.loads(FAILED.read_text())) if found else set()
    return ended, sorted(failed)


def main(given: list[str]) -> int:
    ended, failed = run_all(given)
    if ended != TESTS_FAILED or len(failed) > MOST:
        return ended
    print(f"\nOnce more, alone: {len(failed)} of them.", flush=True)
    again = run("-n", "0", *failed)
    if again == 0:
        print(
            "\nThese failed among the others and hold alone. Find out why:", *failed, sep="\n  ", flush=True
        )
    return again


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
