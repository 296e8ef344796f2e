"""The work itself, timed: runs at saturation, a fan, single runs on an idle engine."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from time import perf_counter

from bench.engine.workflows import CHAIN, DEFINITIONS, FAN, tasks
from penstock.engine.engine import Engine

IN_FLIGHT = 2_000
LOOK = 0.01
RUN_TIMEOUT = 600.0
"""Seconds after which a run that has not ended is taken for lost."""


class NotDone(Exception):
    """Runs did not all succeed: what they took is no figure."""


class Room:
    """Whoever has started a run waits until one has come to its end. A semaphore would look at all who wait."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._left = 0

    def leave(self) -> None:
        """A run has come to its end."""
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._left += 1

    async def wait(self) -> None:
        if self._left:
            self._left -= 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter


async def prepared(engine: Engine) -> Engine:
    """An engine that has the workflows."""
    known = {each["name"] for each in await engine.workflows()}
    for definition in DEFINITIONS:
        if definition["name"] not in known:
            await engine.publish(definition)
    gc.collect()
    return engine


async def chains(url: str, runs: int, in_flight: int = IN_FLIGHT) -> float:
    """Runs a second of a chain of three steps, with so many under way at a time."""
    room = Room()
    async with Engine(url, tasks=tasks(room.leave), concurrency=in_flight) as engine:
        await prepared(engine)
        before = await succeeded(engine)
        left = iter(range(runs))

        async def start() -> None:
            for _ in left:
                await engine.start(CHAIN)
                await room.wait()

        began = perf_counter()
        await asyncio.gather(*(start() for _ in range(min(runs, in_flight))))
        await _rest(engine, began)
        seconds = perf_counter() - began
        done = await succeeded(engine) - before
    if done != runs:
        raise NotDone(f"{done} of {runs} runs succeeded")
    return runs / seconds


async def _rest(engine: Engine, began: float) -> None:
    """Wait until no chain is under way."""
    while await engine.runs(workflow=CHAIN, statuses=("running",), limit=1):
        if perf_counter() - began > RUN_TIMEOUT:
            raise NotDone(f"runs are under way after {RUN_TIMEOUT:g} seconds")
        await asyncio.sleep(LOOK)


async def succeeded(engine: Engine) -> int:
    """How many chains ended well."""
    return (await engine.counts(workflow=CHAIN)).get("succeeded", 0)


async def fans(url: str, sizes: tuple[int, ...]) -> dict[int, float]:
    """Seconds from the start of one run that fans out to so many elements until the client knows of its end."""
    async with Engine(url, tasks=tasks(), concurrency=IN_FLIGHT) as engine:
        await prepared(engine)
        await _one(engine, FAN, {"items": [0]})
        return {size: await _one(engine, FAN, {"items": list(range(size))}) for size in sizes}


async def singles(url: str, count: int) -> tuple[float, ...]:
    """Milliseconds of single chains on an idle engine, sorted."""
    async with Engine(url, tasks=tasks()) as engine:
        await prepared(engine)
        await _one(engine, CHAIN, None)
        return tuple(sorted([1000 * await _one(engine, CHAIN, None) for _ in range(count)]))


async def _one(engine: Engine, workflow: str, input: object) -> float:
    began = perf_counter()
    run = await engine.wait(await engine.start(workflow, input=input), RUN_TIMEOUT)
    seconds = perf_counter() - began
    if run["status"] != "succeeded":
        raise NotDone(f"run '{run['id']}' of '{workflow}' ended as {run['status']}: {run['error']}")
    return seconds
