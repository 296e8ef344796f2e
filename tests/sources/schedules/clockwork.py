"""Engines with schedules on virtual time, which begins at midnight of 2026."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock import Context, Engine, Fatal
from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.durable.conftest import LoopTime
from tests.simloop import SimLoop, run_simulated
from tests.waiting import pass_time

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
Main = Callable[[Engine], Awaitable[Any]]


def workflow(source: str, more: str = "") -> str:
    """A workflow `w` that does its work on a schedule."""
    return (
        f"penstock: 1\nname: w\nsource: {{kind: schedule, {source}}}\n{more}\nsteps:\n  a: {{task: work}}\n"
    )


class Work:
    """A task that takes its time, and fails as often as it is told to."""

    def __init__(self, seconds: float = 0, failures: int = 0) -> None:
        self.seconds, self.failures = seconds, failures

    def tasks(self) -> dict[str, Any]:
        async def work(ctx: Context) -> None:
            await asyncio.sleep(self.seconds)  # the work of the task, in virtual time
            if self.failures:
                self.failures -= 1
                raise Fatal("not now")

        return {"work": work}


async def memory(loop: SimLoop) -> Store:
    return await open_store("memory:", clock=LoopTime(loop))


def play(main: Main, work: Work | None = None, **more: Any) -> Any:
    """What `main` comes to with an engine on virtual time."""

    async def whole(loop: SimLoop) -> Any:
        tasks = (work or Work()).tasks()
        async with Engine(store=await memory(loop), tasks=tasks, grace=0, **more) as engine:
            return await main(engine)

    return run_simulated(whole)


async def pass_until(minutes: float) -> None:
    """Let time pass until so many minutes after midnight."""
    loop = asyncio.get_running_loop()
    await pass_time(max(0.0, minutes * 60 - loop.time()))


async def timeline(engine: Engine) -> list[tuple[float, float, str]]:
    """Of each run, the oldest first: the minute of its tick, the one in which it started, and its status."""
    return [
        (_minutes(run["subject"]), round(_minutes(run["started_at"]), 1), run["status"])
        for run in await engine.runs(sort="oldest", limit=1000)
    ]


async def ticks(engine: Engine) -> list[float]:
    """The minutes of the ticks that made a run."""
    return sorted(tick for tick, _, _ in await timeline(engine))


def _minutes(text: str) -> float:
    return (datetime.fromisoformat(text) - MIDNIGHT) / timedelta(minutes=1)
