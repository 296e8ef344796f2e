"""Run the tests: those of `make test`, with --all those of `make test-all`, or those that the arguments name."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

PROCESSES = "5"
"""Tests at a time on two cores: most of them wait for something more than half of the time."""
MEASURES = ("tests/bench", "tests/chaos", "tests/web/test_editor_speed.py", "tests/web/test_pages_speed.py")
"""What measures, or starves real processes: beside others it would find out how busy those keep the machine."""
NO_TESTS = 5
"""How pytest ends where nothing was selected."""
SHORT = ("-m", "not long")
LIMITS = {SHORT: 300, (): 1800}
"""Seconds that one test of a suite may take: more is a test that hangs, of which nobody would hear otherwise."""


def run(*arguments: str) -> int:
    command = (sys.executable, "-m", "pytest", "-p", "tests.progress", "--durations=10", "--durations-min=1")
    return subprocess.call([*command, *arguments])


def limited(seconds: int) -> tuple[str, ...]:
    """A test that takes longer shows where each of its threads is, and ends its process; the others go on."""
    return ("-o", f"faulthandler_timeout={seconds}", "-o", "faulthandler_exit_on_timeout=true")


def run_suite(selected: tuple[str, ...]) -> int:
    """The suite in two parts, the second of what measures. Both are run, also where the first fails."""
    there = [path for path in MEASURES if Path(path).exists()]
    chosen = (*selected, *limited(LIMITS[selected]))
    first = run("-n", PROCESSES, *(f"--ignore={path}" for path in there), *chosen)
    second = run("-n", "2", *there, *chosen) if there else 0
    return first or (0 if second == NO_TESTS else second)


def main(arguments: list[str]) -> int:
    began = time.monotonic()
    if arguments and arguments != ["--all"]:
        return run("-n", "0", *arguments)
    ended = run_suite(() if arguments else SHORT)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print(f"\nall of it took {minutes} min {seconds:02} s", flush=True)
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
