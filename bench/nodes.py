"""Two nodes on one PostgreSQL beside one, and the floor with two connections beside one.

`python -m bench.nodes URL`: a node that starts as many chains as it is told to, each time that it is told.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import asyncpg
from msgspec import Struct

from bench.engine.workflows import CHAIN, tasks
from bench.engine.workloads import IN_FLIGHT, NotDone, prepared
from bench.floor.postgres import floor
from penstock.engine import event_loop
from penstock.engine.engine import Engine

STARTING = 500
"""Starts under way at a time in one node: of four decisions about a run one is its start, so three times as many tasks
are under way."""
ROOM = 2 * IN_FLIGHT
"""Tasks that one node takes at a time: more than there are, so that none goes to the list for whoever comes first."""
FIRST = 1_000
"""Runs that a node does before it is ready: all its connections are there then, and PostgreSQL has its plans."""
ROUNDS = 6
"""An even number: half of them begin with two nodes."""
RUN_TIMEOUT = 60.0
"""Seconds for each thing that a node is waited for: some times what it takes on a slow day."""
LOOK = 0.005
LEFT = "SELECT EXISTS (SELECT FROM run WHERE status = 'running')"
DONE = "SELECT count(*) FROM run WHERE status = 'succeeded'"
STAT = Path("/proc/stat")


class Rate(Struct, frozen=True):
    """Runs a second, and how many percent of all processors were busy meanwhile, where the system tells."""

    runs_per_s: float
    busy: float | None


async def serve(url: str) -> None:
    """A node."""
    async with Engine(url, tasks=tasks(), concurrency=ROOM) as engine:
        await prepared(engine)
        await _start(engine, FIRST)
        print("ready", flush=True)
        while asked := await asyncio.to_thread(sys.stdin.readline):
            await _start(engine, int(asked))
            print("started", flush=True)


async def _start(engine: Engine, runs: int) -> None:
    left = iter(range(runs))

    async def start() -> None:
        for _ in left:
            await engine.start(CHAIN)

    await asyncio.gather(*(start() for _ in range(min(runs, STARTING))))


async def gains(url: str, runs: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Runs a second of one node and of two, and of the floor with one connection and with two: the median of rounds.

    All nodes are there all the time, so that what is held beside each other is measured within a second or two. Each
    round begins with the other number of nodes: what drifts meanwhile helps neither.
    """
    floors: dict[int, list[float]] = {1: [], 2: []}
    found: dict[int, list[Rate]] = {1: [], 2: []}
    async with AsyncExitStack() as stack:
        nodes = {number: await stack.enter_async_context(open_nodes(url, number)) for number in (1, 2)}
        for turn in range(rounds):
            for number in (1, 2) if turn % 2 == 0 else (2, 1):
                floors[number].append((await floor(url, runs, singles=1, connections=number)).runs_per_s)
                found[number].append(await nodes[number].do(runs))
    rates = {number: [each.runs_per_s for each in found[number]] for number in (1, 2)}
    gain, floor_gain = _gain(rates), _gain(floors)
    return {
        "one": median(rates[1]),
        "two": median(rates[2]),
        "floor one": median(floors[1]),
        "floor two": median(floors[2]),
        "gain": gain,
        "floor gain": floor_gain,
        "of floor": gain / floor_gain,
        **_busy("one busy", found[1]),
        **_busy("two busy", found[2]),
    }


def _gain(rates: dict[int, list[float]]) -> float:
    return median(two / one for one, two in zip(rates[1], rates[2], strict=True))


def _busy(name: str, found: list[Rate]) -> dict[str, float]:
    told = [each.busy for each in found if each.busy is not None]
    return {name: mean(told)} if told else {}


async def rate(url: str, runs: int, number: int) -> Rate:
    """Of so many nodes, once."""
    async with open_nodes(url, number) as nodes:
        return await nodes.do(runs)


class Nodes:
    """Processes that are ready, and a connection to their database."""

    def __init__(self, children: list[subprocess.Popen[str]], line: Any) -> None:
        self._children, self._line = children, line
        self._done = FIRST * len(children)

    async def do(self, runs: int) -> Rate:
        """So many runs, from the first start to the last end. Raises NotDone."""
        each, number = runs // len(self._children), len(self._children)
        worked, began = _worked(), perf_counter()
        for child in self._children:
            _say(child, str(each))
        for child in self._children:
            await _hear(child, "started")
        await self.rest(each * number)
        seconds = perf_counter() - began
        busy, idle = (after - before for before, after in zip(worked, _worked(), strict=True))
        return Rate(each * number / seconds, 100 * busy / (busy + idle) if busy else None)

    async def rest(self, more: int = 0) -> None:
        """Wait until nothing is under way; so many runs more must have succeeded. Raises NotDone."""
        self._done += more
        until = perf_counter() + RUN_TIMEOUT
        while await self._line.fetchval(LEFT):
            if perf_counter() > until:
                raise NotDone(f"runs are under way after {RUN_TIMEOUT:g} seconds")
            await asyncio.sleep(LOOK)
        if (done := await self._line.fetchval(DONE)) != self._done:
            raise NotDone(f"{done} runs succeeded instead of {self._done}")


@asynccontextmanager
async def open_nodes(url: str, number: int) -> AsyncIterator[Nodes]:
    """So many nodes on an empty database beside the one at `url`; both are gone afterwards."""
    async with another_database(url, f"nodes_{number}") as own:
        with ExitStack() as stack:
            children = [_node(stack, own) for _ in range(number)]
            for child in children:
                await _hear(child, "ready")
            line = await asyncpg.connect(own)
            try:
                nodes = Nodes(children, line)
                await nodes.rest()
                yield nodes
            finally:
                await line.close()


@asynccontextmanager
async def another_database(url: str, name: str) -> AsyncIterator[str]:
    """An empty one on the same server: what others left behind costs neither of those who are compared."""
    line = await asyncpg.connect(url)
    try:
        await line.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await line.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{url.rpartition('/')[0]}/{name}"
        finally:
            await line.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    finally:
        await line.close()


def _worked() -> tuple[int, int]:
    """Ticks in which the processors were busy and in which they were not, since the machine started; Linux tells."""
    if not STAT.exists():
        return 0, 0
    user, nice, system, idle, waiting, *interrupts = map(int, STAT.read_text().split("\n", 1)[0].split()[1:8])
    return user + nice + system + sum(interrupts), idle + waiting


def _node(stack: ExitStack, url: str) -> subprocess.Popen[str]:
    """A node of its own process, which ends with the stack, whatever it does then."""
    command = [sys.executable, "-m", "bench.nodes", url]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.enter_context(child)
    stack.callback(child.kill)
    return child


async def _hear(child: subprocess.Popen[str], word: str) -> None:
    """Wait for a word of a node. One that says nothing is killed: then its silence ends, and so does who listens."""
    assert child.stdout is not None
    late = asyncio.get_running_loop().call_later(RUN_TIMEOUT, child.kill)
    said = await asyncio.to_thread(child.stdout.readline)
    late.cancel()
    if said.strip() != word:
        raise NotDone(f"a node said '{said.strip()}' instead of '{word}'")


def _say(child: subprocess.Popen[str], word: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{word}\n")
    child.stdin.flush()


if __name__ == "__main__":
    event_loop.run(serve(sys.argv[1]))
