"""The load: starts with keys, asked again until they are answered, and a ledger of the answers."""

from __future__ import annotations

import asyncio
from random import Random

from penstock import Engine
from penstock.store.errors import StoreError

PAUSE = 0.5
"""Seconds before an operation that failed is asked again, twice as long each time."""
LONGEST = 4.0
AT_A_TIME = 2
"""Operations under way: whoever hammers at a database that is away only measures how fast it says no."""


class Client:
    """One caller. `acknowledged` is number → run: what it was told must be true for ever."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._room = asyncio.Semaphore(AT_A_TIME)
        self.acknowledged: dict[int, str] = {}
        self.asked = self.failed = 0
        self.slowest = 0.0
        self.wrong: list[str] = []

    async def load(self, engine: Engine, seconds: float, every: float) -> None:
        """A start every so often; all are answered in the end."""
        loop = asyncio.get_running_loop()
        began, number = loop.time(), 0
        async with asyncio.TaskGroup() as group:
            while loop.time() < began + seconds:
                number += 1
                group.create_task(self.start(engine, number))
                await asyncio.sleep(max(0.0, began + number * every - loop.time()))

    async def start(self, engine: Engine, number: int) -> None:
        """One run for this number, whatever happens on the way; sometimes it is asked for twice."""
        self.acknowledged[number] = await self._ask(engine, number)
        if self._random.random() < 0.15 and await self._ask(engine, number) != self.acknowledged[number]:
            self.wrong.append(f"number {number} was told two runs")

    async def _ask(self, engine: Engine, number: int) -> str:
        loop, pause = asyncio.get_running_loop(), PAUSE
        async with self._room:
            while True:
                asked, self.asked = loop.time(), self.asked + 1
                try:
                    return await engine.start(
                        "carry", input={"number": number}, idempotency_key=f"number-{number}"
                    )
                except StoreError:
                    self.failed += 1
                finally:
                    self.slowest = max(self.slowest, loop.time() - asked)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST)
