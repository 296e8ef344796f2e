"""`make check` refuses a sleep in the tests that gives no reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, write


def checked(folder: Path, text: str) -> tuple[int, str]:
    """How the check ends where these are the tests, and what it says."""
    (folder / "tests").mkdir()
    write(folder, "tests/test_some.py", text.replace("SLEEP", "sleep"))  # this file is checked too
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/sleeps.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "await asyncio.SLEEP(1)\n",
        "time.SLEEP(0.1)  # type: ignore\n",
        'execute("SELECT pg_SLEEP(2)")\n',
        "# why\n\ntime.SLEEP(1)\n",
    ],
)
def test_a_sleep_without_a_reason_is_found(text: str, tmp_path: Path) -> None:
    code, said = checked(tmp_path, text)

    assert (code, said.split(": ")[0]) == (1, f"tests/test_some.py:{text.count(chr(10))}")


@pytest.mark.parametrize(
    "text",
    [
        "await asyncio.SLEEP(1)  # the work of the task\n",
        "# The work of the task.\ntime.SLEEP(1)\n",
        "await asyncio.SLEEP(0)\n",
        "async def SLEEP(self) -> None: ...\n",
    ],
)
def test_a_sleep_with_a_reason_and_one_of_no_time_are_not(text: str, tmp_path: Path) -> None:
    assert checked(tmp_path, text) == (0, "sleeps: each in the tests says why\n")
