"""The beginning of the README, done word for word with real processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.command import ROOT, environment
from tests.cli.serving import serving
from tests.cli.test_front import base_of


def blocks() -> list[str]:
    """What a newcomer is told to type: to set up, in an empty folder, and in another terminal."""
    start = (ROOT / "README.md").read_text(encoding="utf-8").split("## Start\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", start, re.M | re.S)


def clone(folder: Path) -> Path:
    """A folder as `make install` leaves it: the environment, and the examples."""
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def typed(lines: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What is typed into a new terminal, which knows nothing of another."""
    return subprocess.run(
        ["bash", "-euc", lines],
        cwd=folder,
        env=environment(PATH="/usr/bin:/bin", **variables),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_what_the_readme_says_works_for_a_newcomer(tmp_path: Path) -> None:
    setup, up, terminal = blocks()
    there = clone(tmp_path / "clone")
    (tmp_path / "empty").mkdir()

    found = typed(setup.replace("make install\n", "") + "cd ../empty\ncommand -v penstock", there)
    with serving(*up.split()[1:], cwd=tmp_path / "empty") as server:
        done = typed(terminal, there, PENSTOCK_SERVER=base_of(server))
        stopped = server.stop()

    assert (found.returncode, up) == (0, "penstock up\n"), found.stderr
    assert setup.splitlines()[0] == "make install"
    assert (done.returncode, stopped.code) == (0, 0), done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "tea version 1"
    assert len([line for line in lines if re.match(r"tea succeeded after 3\.\ds", line)]) == 2
    assert 'result: "Tea in a cup"' in lines
    assert [line.split()[1:3] for line in lines[-3:]] == [["workflow", "status"], *[["tea", "succeeded"]] * 2]
