"""What the scripts of the examples say to who starts them at the wrong time, or ends them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import environment
from tests.cli.serving import serving
from tests.cli.test_front import base_of
from tests.examples.shelf import FOLDER

NOBODY = "http://127.0.0.1:1"


def said(*script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    name, *args = script
    return subprocess.run(
        [sys.executable, str(FOLDER / name), *args],
        env=environment(),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("script", [("release/release.py",), ("pinball/token_worker.py", "--once")])
def test_a_server_that_is_not_there_is_told_in_a_sentence(script: tuple[str, ...], tmp_path: Path) -> None:
    done = said(*script, "--server", NOBODY, cwd=tmp_path)

    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("error: ") and "refused" in done.stderr


def test_a_release_on_a_server_that_may_not_call_its_services_says_why(tmp_path: Path) -> None:
    with serving("up", cwd=tmp_path) as up:
        done = said("release/release.py", "--server", base_of(up), cwd=tmp_path)
        up.stop()

    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("error: POST /task-services was answered with 400: ")
    assert "egress_allow" in done.stderr


@pytest.mark.parametrize(
    "script",
    [
        ("wardenclyffe/transcoder.py", "--secret", "s"),
        ("zenko/functions/serve.py",),
        ("task_service/service.py",),
    ],
)
def test_what_listens_ends_by_ctrl_c_without_a_word(script: tuple[str, ...], tmp_path: Path) -> None:
    name, *args = script
    listening = subprocess.Popen(
        [sys.executable, str(FOLDER / name), *args, "--port", "0"],
        env=environment(),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert listening.stdout is not None
    listening.stdout.readline()  # it says where it listens
    listening.send_signal(signal.SIGINT)
    _, err = listening.communicate(timeout=60)

    assert (listening.returncode, err) == (0, "")
