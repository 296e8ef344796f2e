"""Tasks in child processes: whatever a task does to its process, the worker goes on."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run_input import Done, Failed, TimedOut
from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.execute import processes
from penstock.workers.worker.task_loader import load_tasks
from penstock.workers.worker.worker import Worker
from tests.workers.working import reported, working

SOURCE = str(Path(__file__).parent / "rule_tasks.py")
SHORT = Timeouts(heartbeat=timedelta(seconds=0.6))


def children(gate: ScriptedGate, source: str = SOURCE) -> AbstractAsyncContextManager[Worker]:
    """A worker with one child process."""
    tasks = {name: task.function for name, task in load_tasks([source]).items()}
    return working(gate, tasks, processes=1, sources=[source])


@pytest.mark.parametrize(
    ("task", "params", "how"),
    [
        ("process.exit", {"code": 3}, "ended with exit code 3"),
        ("process.exit", {"code": 0}, "ended with exit code 0"),
        ("process.kill", {}, "was killed by signal 9 (SIGKILL)"),
    ],
)
def test_a_task_that_ends_its_process_is_lost_and_the_next_one_runs(
    task: str, params: dict[str, Any], how: str
) -> None:
    async def main() -> None:
        gate = ScriptedGate()
        async with children(gate):
            [lost] = await reported(gate, gate.give(task, params))
            [after] = await reported(gate, gate.give("echo", {"value": "after"}))

        assert lost == TimedOut("lost", f"the process of the task {how}")
        assert after == Done(output="after")

    asyncio.run(main())


def test_a_task_that_does_not_listen_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "KILL_AFTER", 0.05)
    begun, lock = tmp_path / "begun", tmp_path / "lock"

    async def main() -> None:
        gate = ScriptedGate()
        async with children(gate):
            params = {"begun": str(begun), "lock": str(lock)}
            run = gate.give("process.deaf", params, Timeouts(heartbeat=timedelta(seconds=3)))
            await gate.until(begun.exists)
            held = not _is_free(lock)
            gate.lose([run])
            await gate.until(lambda: _is_free(lock))
            [after] = await reported(gate, gate.give("echo", {"value": "after"}))

        assert (held, after) == (True, Done(output="after"))
        assert run not in gate.outcomes()

    asyncio.run(main())


def _is_free(lock: Path) -> bool:
    """Whether none of those who held it is there."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_what_a_task_prints_and_reads_does_not_disturb_and_its_context_is_whole() -> None:
    async def main() -> None:
        gate = ScriptedGate()
        run = gate.give("process.print")
        async with children(gate):
            [outcome] = await reported(gate, run)

        assert isinstance(outcome, Done)
        shown = dict(outcome.output)
        assert shown.pop("pid") != os.getpid()
        assert shown == {
            "stdin": "",
            "run": run,
            "data": {"number": 1},
            "events": {"START": {"number": 1}},
        }

    asyncio.run(main())


def test_a_task_that_the_child_does_not_have_fails_for_good(tmp_path: Path) -> None:
    source = tmp_path / "fickle.py"
    source.write_text(
        "import os\nfrom penstock import task\n\n@task\ndef always(): ...\n\n"
        f"if os.getpid() == {os.getpid()}:\n    @task\n    def only_here(): ...\n"
    )

    async def main() -> None:
        gate = ScriptedGate()
        async with children(gate, str(source)):
            [outcome] = await reported(gate, gate.give("only_here"))

        assert isinstance(outcome, Failed)
        assert (outcome.error.kind, outcome.retry) == ("fatal", False)

    asyncio.run(main())


def test_a_child_that_cannot_load_its_tasks_costs_no_attempt_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, broken = tmp_path / "flaky.py", tmp_path / "broken"
    source.write_text(
        "from pathlib import Path\nfrom penstock import task\n\n"
        f"if Path({str(broken)!r}).exists():\n    raise RuntimeError('no licence')\n\n"
        "@task\ndef work():\n    return 'worked'\n"
    )

    async def main() -> None:
        gate = ScriptedGate()
        async with children(gate, str(source)):
            broken.touch()
            run = gate.give("work")
            await gate.until(lambda: "no licence" in caplog.text)
            broken.unlink()
            assert await reported(gate, run) == [Done(output="worked")]

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("program", "why"),
    [(None, "No such file"), ("#!/bin/sh\nprintf '\\000\\000\\000\\003abc'\n", "what cannot be read")],
    ids=["none", "one that talks nonsense"],
)
def test_a_process_that_cannot_be_made_costs_no_attempt_and_is_tried_again(
    program: str | None,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    python, other = sys.executable, tmp_path / "python"
    if program is not None:
        other.write_text(program)
        other.chmod(0o755)

    async def main() -> None:
        gate = ScriptedGate()
        monkeypatch.setattr(sys, "executable", str(other))
        async with children(gate):
            run = gate.give("echo", {"value": "after"})
            await gate.until(lambda: why in caplog.text)
            monkeypatch.setattr(sys, "executable", python)
            assert await reported(gate, run) == [Done(output="after")]

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())


def test_a_child_ends_with_its_worker(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "penstock.workers.execute.process_main", SOURCE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdin is not None and child.stdout is not None
    child.stdout.read(1)

    child.stdin.close()

    assert child.wait(20) == -9
    child.stdout.close()
