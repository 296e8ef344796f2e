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


def run(*given: str) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *given])


def main(given: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    ended = run("-n", "2", *given)
    if ended != TESTS_FAILED:
        return ended
    failed = sorted(json.loads(FAILED.read_text()))
    if len(failed) > MOST:
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
