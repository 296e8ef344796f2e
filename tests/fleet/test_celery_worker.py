"""`penstock worker --celery` as a process: a bridge that is killed loses nothing."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

from tests.cli.command import write
from tests.cli.serving import Serving, serving, shown, started
from tests.fleet.conftest import ROOT
from tests.fleet.test_celery import until
from tests.waiting import until_sync

FLOW = """\
penstock: 1
name: hello
steps:
  one:
    task: celery.hold
    with: {{begun: {begun}, go: {go}}}
    timeouts: {{heartbeat: 1s}}
    timeout_retries: [1, 1, 1]
"""


def test_a_bridge_that_is_killed_is_followed_by_one_that_sends_the_next_attempt(
    celery: Any, broker: str, tmp_path: Path
) -> None:
    begun, go, db = tmp_path / "begun", tmp_path / "go", str(tmp_path / "runs.db")
    run = started(db, write(tmp_path, "hello.yaml", FLOW.format(begun=begun, go=go)))

    def bridge() -> Any:
        return serving(
            "worker",
            "--db",
            db,
            "--celery",
            "tests.fleet.celery_app:app",
            "--stats",
            tmp_path / "stats",
            cwd=ROOT,
            FLEET_BROKER=broker,
        )

    with bridge() as first:
        seen(first, begun)
        first.signal(signal.SIGKILL)
    with bridge() as second:
        seen(second, begun)
        go.touch()
        until_reported(tmp_path / "stats", second)
        said = second.stop()

    step = shown(db, run)["steps"]["one"]
    assert (said.code, step["output"], step["attempts"]) == (0, "held", 2)
    assert celery.AsyncResult(f"penstock-{run}.2-1").state == "REVOKED"


def seen(_: Serving, begun: Path) -> None:
    """A Celery worker has begun the task; the mark is taken away for the next."""
    asyncio.run(asyncio.wait_for(until(begun), 30))
    begun.unlink()


def until_reported(stats: Path, bridge: Serving) -> None:
    wanted = ('"worker.reported": 1', str(bridge.process.pid))
    until_sync(stats.read_text, "figures of the bridge", so=lambda text: all(each in text for each in wanted))
