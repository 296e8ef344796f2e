"""The load: starts with keys, asked again until they are answered, and a ledger of the answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from penstock.remote.connection import Connection
from penstock.remote.errors import NoServer, RemoteError
from penstock.store.errors import StoreError

PAUSE = 0.5
"""Seconds before an operation that failed is asked again, twice as long each time."""
LONGEST = 4.0
AT_A_TIME = 2
"""Operations under way: whoever hammers at a database that is away only measures how fast it says no."""


class Starter(Protocol):
    """An engine, or whoever asks one."""

    async def start(self, workflow: str, *, input: Any, idempotency_key: str) -> str: ...


class Nodes:
    """Several servers, asked in turn; `duplicates` counts answers which say that the run was there already."""

    def __init__(self, urls: Sequence[str], token: str | None, *, timeout: float = 15.0) -> None:
        self._lines = [Connection(url, token, timeout=timeout) for url in urls]
        self._asked = self.duplicates = 0

    async def start(self, workflow: str, *, input: Any, idempotency_key: str) -> str:
        """As an engine does; where a server is not there, the next is asked. Raises StoreError, RemoteError."""
        body = {"input": input, "idempotency_key": idempotency_key}
        for last in (False,) * (len(self._lines) - 1) + (True,):
            self._asked += 1
            line = self._lines[self._asked % len(self._lines)]
            try:
                run = await line.post(f"/api/workflows/{workflow}/runs", body)
            except NoServer:
                if last:
                    raise
                continue
            self.duplicates += run["duplicate"]
            return str(run["id"])
        raise AssertionError("there is no server to ask")

    async def close(self) -> None:
        for line in self._lines:
            await line.close()


class Client:
    """One caller. `acknowledged` is number → run: what it was told must be true for ever."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._room = asyncio.Semaphore(AT_A_TIME)
        self.acknowledged: dict[int, str] = {}
        self.asked = self.failed = self.repeated = 0
        self.enough = False
        self.refused: Counter[str] = Counter()  # by the code of the error
        self.slowest = 0.0
        self.wrong: list[str] = []

    @property
    def succeeded(self) -> float:
        """The share of its operations."""
        return 1 - self.failed / max(1, self.asked)

    async def load(self, engine: Starter, seconds: float, every: float) -> None:
        """A start every so often, until it is `enough`; all are answered in the end."""
        loop = asyncio.get_running_loop()
        began, number = loop.time(), 0
        async with asyncio.TaskGroup() as group:
            while loop.time() < began + seconds and not self.enough:
                number += 1
                group.create_task(self.start(engine, number))
                await asyncio.sleep(max(0.0, began + number * every - loop.time()))  # the pace of the load

    async def start(self, engine: Starter, number: int) -> None:
        """One run for this number, whatever happens on the way; sometimes it is asked for twice."""
        self.acknowledged[number] = await self._ask(engine, number)
        if self._random.random() < 0.15:
            self.repeated += 1
            if await self._ask(engine, number) != self.acknowledged[number]:
                self.wrong.append(f"number {number} was told two runs")

    async def _ask(self, engine: Starter, number: int) -> str:
        loop, pause = asyncio.get_running_loop(), PAUSE
        async with self._room:
            while True:
                asked, self.asked = loop.time(), self.asked + 1
                try:
                    return await engine.start(
                        "carry", input={"number": number}, idempotency_key=f"number-{number}"
                    )
                except (StoreError, RemoteError) as error:
                    self.failed += 1
                    self.refused[error.code] += 1
                finally:
                    self.slowest = max(self.slowest, loop.time() - asked)
                await asyncio.sleep(pause)  # a client backs off before it tries again
                pause = min(2 * pause, LONGEST)
