"""A run watched from afar: the picture, and a server that goes away and comes back."""

from __future__ import annotations

import asyncio
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from penstock.cli.runs.watch_report import Picture
from penstock.cli.runs.watch_stream import watched
from tests.cli.command import penstock, write
from tests.cli.served import TASKS, WAITING
from tests.cli.serving import serving
from tests.postgres_server import free_port

BEGAN = datetime(2026, 3, 2, 15, 30, tzinfo=UTC)
STEP = {
    "status": "blocked",
    "reason": None,
    "firings": 0,
    "attempts": 0,
    "port": None,
    "output": None,
    "error": None,
    "elements": None,
}


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat()


def entry(seq: int, seconds: float, kind: str, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "at": at(seconds), "kind": kind, **more}


def lines(picture: Picture, seconds: float) -> list[str]:
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(picture.drawn(BEGAN + timedelta(seconds=seconds)))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_picture_shows_steps_with_their_times_and_what_happened_last() -> None:
    picture = Picture(
        {
            "id": "1a1e21b4904dfa6a32b7",
            "workflow": "shop",
            "status": "running",
            "started_at": at(0),
            "ended_at": None,
            "waiting_for": [],
            "steps": {
                "look": {**STEP, "status": "complete", "port": "then", "attempts": 1},
                "pack": {**STEP, "status": "running", "attempts": 2},
                "each": {**STEP, "status": "running", "elements": {"total": 9, "done": 4, "failed": 0}},
                "ship": STEP,
            },
        }
    )
    picture.add(
        [
            entry(1, 0, "event", event="START"),
            entry(2, 0, "fired", step="look"),
            entry(3, 1.5, "ended", step="look", port="then", firing=2),
            entry(4, 2, "fired", step="pack"),
        ]
    )

    assert lines(picture, 5) == [
        "shop running 5.0s · run 1a1e21b4904dfa6a32b7",
        "✓ look  complete  then               1.5s",
        "● pack  running           attempt 2  3.0s",
        "● each  running   4 of 9",
        "· ship  blocked",
        "     0ms  event START",
        "     0ms  look begins",
        "    1.5s  look ends on then",
        "    2.0s  pack begins",
    ]


def test_a_watch_outlives_a_restart_of_the_server(tmp_path: Path) -> None:
    write(tmp_path, "tasks.py", TASKS)
    port = free_port()
    base, up = f"http://127.0.0.1:{port}", ("up", "--tasks", "tasks.py", "--port", port)
    with serving(*up, cwd=tmp_path) as first:
        penstock("publish", write(tmp_path, "waiting.yaml", WAITING), "--no-tasks", "--server", base)
        run = penstock("start", "waiting", "--server", base).out.strip()
        with serving("watch", run, "--server", base, cwd=tmp_path, ready=False) as watch:
            assert watch.process.stdout is not None
            begun = watch.process.stdout.readline() + watch.process.stdout.readline()
            first.signal(signal.SIGKILL)
            first.end()
            watch.until("the server does not answer; waiting for it")
            with serving(*up, cwd=tmp_path) as second:
                penstock("emit", run, "go", "--server", base)
                watched = watch.end()
                second.stop()

    said = (begun + watched.out).splitlines()
    happened = [line.split(maxsplit=1)[1] for line in said if "begins" in line]
    assert (watched.code, happened) == (0, ["greet begins", "again begins"])


class LateView:
    """A server whose history is a moment ahead of the run that it shows."""

    def __init__(self) -> None:
        self.shown = 0

    async def show(self, run: str) -> dict[str, Any]:
        self.shown += 1
        status = "running" if self.shown <= 2 else "failed"
        return {
            "id": run,
            "workflow": "w",
            "status": status,
            "started_at": at(0),
            "ended_at": None,
            "waiting_for": [],
            "steps": {},
        }

    async def history(self, run: str, after: int = 0) -> list[dict[str, Any]]:
        return [entry(1, 1, "run_ended", data={"status": "failed"})] if after == 0 else []


def test_a_run_whose_end_is_streamed_before_it_is_shown_is_not_waited_for_forever() -> None:
    async def main() -> dict[str, Any]:
        engine: Any = LateView()
        async with asyncio.timeout(10):
            return await watched(engine, "r", quiet=True)

    assert asyncio.run(main())["status"] == "failed"
