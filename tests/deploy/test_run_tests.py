"""`make test` tries a failed test once more, alone: what holds then is told, what fails again is red."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.command import ROOT, write

WOBBLES = """
from pathlib import Path

def test_holds_the_second_time():
    there = Path("was-here").exists()
    Path("was-here").touch()
    assert there
"""


def tried(folder: Path, tests: str) -> tuple[int, str]:
    """How `scripts/run_tests.py` ends in a folder with those tests, and what it says."""
    write(folder, "test_some.py", tests)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/run_tests.py", "-q"],
        cwd=folder, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_one_that_holds_alone_is_told(tmp_path: Path) -> None:
    ended, said = tried(tmp_path, WOBBLES)

    assert ended == 0
    assert "These failed among the others and hold alone. Find out why:\n  test_some.py::test_holds" in said


def test_one_that_fails_again_is_red(tmp_path: Path) -> None:
    ended, said = tried(tmp_path, WOBBLES + "\ndef test_never():\n    assert False\n")

    assert ended == 1
    assert "hold alone" not in said


def test_many_are_not_tried_again(tmp_path: Path) -> None:
    ended, said = tried(
        tmp_path, WOBBLES + "".join(f"\ndef test_{n}():\n    assert False\n" for n in range(5))
    )

    assert ended == 1
    assert "Once more" not in said


def test_what_cannot_be_collected_is_not_tried_again(tmp_path: Path) -> None:
    ended, said = tried(tmp_path, WOBBLES + "\nno python")

    assert ended != 0
    assert "hold alone" not in said
