"""Workers of two languages on one task list: nothing is lost when either is killed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from tests.remote.engines import engine_behind_http, launch
from tests.suites import first_short
from tests.waiting import nothing_happens, until

RUNS = 40
FLOW: dict[str, Any] = {
    "penstock": 1,
    "name": "shared",
    "defaults": {"timeouts": {"heartbeat": "2s"}},
    "steps": {
        "first": {"task": "echo", "with": {"value": 1}},
        "held": {
            "task": "hold",
            "after": ["first"],
            "with": {"begun": "${ data.begun }", "go": "${ data.go }"},
        },
        "last": {"task": "echo", "after": ["held"], "with": {"value": "${ run.id }"}},
    },
}


async def workers_of(engine: Engine, count: int) -> None:
    await until(engine.workers, f"{count} workers", so=lambda found: len(found) >= count)


@pytest.mark.parametrize("victim", first_short(["node", "python"]))
def test_a_python_and_a_node_worker_share_a_list_and_either_may_be_killed(
    victim: str, tmp_path: Path
) -> None:
    go = tmp_path / "go"

    async def play() -> Any:
        async with engine_behind_http(tmp_path) as (engine, base):
            await engine.publish(FLOW)
            processes = {kind: await launch(kind, base) for kind in ("node", "python")}
            try:
                await workers_of(engine, 2)
                runs = [
                    await engine.start(
                        "shared", input={"begun": str(tmp_path / f"begun {number}"), "go": str(go)}
                    )
                    for number in range(RUNS)
                ]
                # Both are full: five tasks are held by each of them.
                await until(lambda: len(list(tmp_path.glob("begun *"))) == 10, "ten tasks")
                processes[victim].kill()
                go.touch()
                return runs, [await engine.wait(run, 60) for run in runs]
            finally:
                for process in processes.values():
                    if process.returncode is None:
                        process.kill()
                    await process.wait()

    runs, ended = asyncio.run(play())

    assert [(each["status"], each["steps"]["last"]["output"]) for each in ended] == [
        ("succeeded", run) for run in runs
    ]
    again = [each for each in ended if each["steps"]["held"]["attempts"] > 1]
    assert len(again) >= 5  # what the victim held was done by the other


@pytest.mark.parametrize("kind", ["node", "python"])
def test_a_worker_that_is_asked_to_stop_ends_what_runs_and_leaves(kind: str, tmp_path: Path) -> None:
    go, begun = tmp_path / "go", tmp_path / "begun"

    async def play() -> Any:
        async with engine_behind_http(tmp_path) as (engine, base):
            await engine.publish(FLOW)
            process = await launch(kind, base)
            run = await engine.start("shared", input={"begun": str(begun), "go": str(go)})
            await until(begun.exists, "the task")
            process.terminate()
            await nothing_happens(0.2)  # it does not leave while a task runs
            assert process.returncode is None
            go.touch()
            code = await asyncio.wait_for(process.wait(), 20)
            shown = (await engine.show(run))["steps"]
            return code, shown["held"]["status"], shown["held"]["attempts"], await engine.workers()

    assert asyncio.run(play()) == (0, "complete", 1, [])
