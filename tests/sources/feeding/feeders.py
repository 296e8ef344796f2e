"""Feeders for tests, and nodes that run them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from penstock import Context, Engine
from penstock.sources.triggers.trigger import Means, SourceReader, Start, Trigger, TriggerTarget
from penstock.sources.triggers.triggers import Triggers
from tests.waiting import until

WORKFLOW = """
penstock: 1
name: w
source: {kind: topic, bus: main, topic: orders}
steps:
  a: {task: note}
"""
WAITING = """
penstock: 1
name: w
source: {kind: topic, bus: main, topic: orders}
external: [{name: paid, from: {kind: topic, bus: main, topic: payments, key: {order: body.id}}}]
steps:
  a: {task: note}
  b: {task: note, after: paid}
"""


class Belt:
    """What lies outside: items that feeders take, in order, whichever node they run on; and who feeds when."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.feeding = self.most = self.begun = 0
        self.versions: list[int] = []
        self.broken: list[Exception] = []
        self.put = asyncio.Event()

    def add(self, *items: str) -> None:
        self.items += items
        self.put.set()

    def factory(self, want: TriggerTarget, means: Means) -> SourceReader | None:
        return Taking(self)

    def feeders(self) -> dict[str, Any]:
        return {"topic": self.factory}


class Taking:
    """Starts a run for each item of a belt, and keeps in its state how far it is."""

    def __init__(self, belt: Belt) -> None:
        self.belt = belt

    async def run(self, feed: Trigger) -> None:
        belt = self.belt
        if belt.broken:
            raise belt.broken.pop()
        belt.feeding += 1
        belt.begun += 1
        belt.most = max(belt.most, belt.feeding)
        belt.versions.append(feed.flow.version)
        try:
            while not feed.stopping.is_set():
                await self.take(feed)
                await feed.rest(0.02)
        finally:
            belt.feeding -= 1

    async def take(self, feed: Trigger) -> None:
        done = feed.state or 0
        for n, item in enumerate(self.belt.items[done:], done + 1):
            await feed.start(Start(key=str(n), subject=item))
            await feed.save(n)


@asynccontextmanager
async def fed(engine: Engine, feeders: Mapping[str, Any], **more: Any) -> AsyncIterator[Triggers]:
    """An engine whose sources are fed while the block runs."""
    feeding = Triggers((await engine.running()).node, readers=feeders, **more)
    loop = asyncio.create_task(feeding.run())
    try:
        yield feeding
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
        await feeding.stop()


async def subjects(engine: Engine) -> list[str]:
    """Of all runs, the oldest first."""
    return [run["subject"] for run in await engine.runs(sort="oldest", limit=1000)]


async def until_there(engine: Engine, count: int) -> list[str]:
    """The subjects, once there are so many runs."""
    return await until(lambda: subjects(engine), f"{count} runs", 60, so=lambda found: len(found) >= count)


async def held_back(engine: Engine, belt: Belt, count: int) -> None:
    """Have so many runs that a pause of the workflow holds."""
    await engine.pause_workflow("w")
    belt.add(*(f"{n}" for n in range(count)))
    await until_there(engine, count)


def note_tasks(done: list[str]) -> dict[str, Any]:
    """A task `note` that writes down the subjects of its runs."""

    async def note(ctx: Context) -> None:
        done.append(ctx.run["subject"] or "")

    return {"note": note}


SHORT = timedelta(seconds=1.5)
