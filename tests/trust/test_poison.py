"""C13: what kills its process every time, or never comes to rest, holds up none of the runs beside it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock import Engine
from penstock.engine.services import EngineServices
from penstock.workers.worker.task_loader import load_tasks
from tests.waiting import until

SOURCE = str(Path(__file__).parents[1] / "workers/rule_tasks.py")
TRIES = 2
POISON = """
penstock: 1
name: poison
steps:
  a: {task: process.exit, with: {code: 3}, retries: 0, timeout_retries: [1]}
"""
PLAIN = """
penstock: 1
name: plain
steps:
  a: {task: echo, with: {value: 1}}
  b: {task: echo, after: a, with: {value: 2}}
"""
ROUND = """
penstock: 1
name: round
endless: true
steps:
  a: {task: set, after: START | b, with: {x: 1}}
  b: {task: set, after: a, with: {x: 2}}
"""


@contextmanager
def soon(seconds: int) -> Iterator[None]:
    """Raises TimeoutError, also where a loop that never ends keeps the event loop from telling the time."""

    def late(number: int, frame: Any) -> None:
        raise TimeoutError(f"nothing else was done for {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_c13_a_task_that_kills_its_process_is_given_up_and_holds_nobody_else_up(url: str) -> None:
    async def main() -> None:
        running = await EngineServices.open(
            url, load_tasks([SOURCE]), processes=2, sources=[SOURCE], feed=False
        )
        async with Engine(running=running) as engine:
            for definition in (POISON, PLAIN):
                await engine.publish(definition)
            bad = await engine.start("poison")
            good = [await engine.start("plain") for _ in range(6)]
            ends = [(await engine.wait(run, 60))["status"] for run in good]
            given_up = await engine.wait(bad, 60)
            found = await engine.incidents()
            assert ends == ["succeeded"] * len(good)
            assert (given_up["status"], given_up["steps"]["a"]["attempts"]) == ("failed", TRIES)
            assert [each["run"] for each in found["items"]] == [bad], "somebody is told"
            assert await running.store.check() == []

    asyncio.run(main())


def test_c13_a_workflow_that_goes_round_for_ever_takes_its_turn_like_all_others(url: str) -> None:
    async def main() -> None:
        running = await EngineServices.open(url, load_tasks([SOURCE]), feed=False)
        async with Engine(running=running) as engine:
            for definition in (ROUND, PLAIN):
                await engine.publish(definition)
            turning = await engine.start("round")
            good = [await engine.start("plain") for _ in range(6)]
            ends = [(await engine.wait(run, 60))["status"] for run in good]
            before = (await engine.show(turning))["steps"]["a"]["firings"]
            now = await until(
                lambda: engine.show(turning),
                "another turn",
                so=lambda view: view["steps"]["a"]["firings"] > before,
            )
            await engine.cancel(turning)
            assert ends == ["succeeded"] * len(good)
            assert now["status"] == "running", "it goes on beside them"
            assert (await engine.wait(turning, 60))["status"] == "canceled"
            assert await running.store.check() == []

    with soon(120):
        asyncio.run(main())
