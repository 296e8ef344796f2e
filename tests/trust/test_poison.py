"""C13: a task that kills its process every time is given up, and the runs beside it come to their end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock import Engine
from penstock.engine.running import Running
from penstock.workers.loading import load_tasks

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


def test_c13_a_task_that_kills_its_process_is_given_up_and_holds_nobody_else_up(url: str) -> None:
    async def main() -> None:
        running = await Running.open(url, load_tasks([SOURCE]), processes=2, sources=[SOURCE], feed=False)
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
