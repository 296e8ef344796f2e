"""A release of three services: one is asked, one reports, one does both."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import environment
from tests.cli.serving import LONGEST, serving
from tests.cli.test_front import base_of
from tests.examples.live import Live
from tests.examples.shelf import FOLDER

RELEASE = FOLDER / "release" / "release.py"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    settings = {
        "PENSTOCK_EGRESS_ALLOW": "127.0.0.1",
        "PENSTOCK_RELEASE_OPEN_REPORTS": "true",
        "PENSTOCK_RELEASE_POLL_INTERVAL": "100ms",
    }
    with serving("up", cwd=tmp_path, ready=True, longest=LONGEST, program=None, **settings) as up:
        yield Live(base_of(up))
        up.stop()


def test_three_services_stage_and_publish_together(live: Live, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(RELEASE), "--server", live.base, "--publish"],
        env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    said = re.fullmatch(r"release (RE_\w+) is staged\nrelease \1 is published as 0\.1\.0\n", done.stdout)
    assert said is not None, done.stdout + done.stderr
    release = live.good("GET", f"/releases/{said[1]}")
    assert {task["service_name"]: task["state"] for task in release["tasks"]} == dict.fromkeys(
        ("index", "portal", "archive"), "published"
    )
    messages = [
        each["message"] for each in live.good("GET", f"/events?release={said[1]}&limit=100")["results"]
    ]
    assert any("from staged to publishing" in message for message in messages)
