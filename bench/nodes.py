"""Two nodes on one PostgreSQL beside one, and the floor with two connections beside one.

`python -m bench.nodes URL RUNS`: a node that starts so many chains when told to, and works until its input ends.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import asyncpg

from penstock.bench.engine.workflows import CHAIN, tasks
from penstock.bench.engine.workloads import IN_FLIGHT, NotDone, prepared
from penstock.bench.floor.postgres import floor
from penstock.engine import loop
from penstock.engine.engine import Engine

STARTING = 500
"""Starts under way at a time in one node."""
PATIENCE = 120.0
LOOK = 0.02
LEFT = "SELECT count(*) FROM run WHERE workflow = $1 AND ended_at IS NULL"
DONE = "SELECT count(*) FROM run WHERE workflow = $1 AND status = 'succeeded'"


async def serve(url: str, runs: int) -> None:
    """A node."""
    async with Engine(url, tasks=tasks(), concurrency=IN_FLIGHT) as engine:
        await prepared(engine)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        left = iter(range(runs))

        async def start() -> None:
            for _ in left:
                await engine.start(CHAIN)

        await asyncio.gather(*(start() for _ in range(min(runs, STARTING))))
        print("started", flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def gains(url: str, runs: int) -> dict[str, float]:
    """Runs a second of one node and of two, and of the floor with one connection and with two, in turn."""
    floors, found = [], []
    for number in (1, 2):
        floors.append((await floor(url, runs, singles=1, connections=number)).runs_per_s)
        found.append(await rate(url, runs, number))
    made = {"one": found[0], "two": found[1], "floor one": floors[0], "floor two": floors[1]}
    gain, of_floor = found[1] / found[0], floors[1] / floors[0]
    return {**made, "gain": gain, "floor gain": of_floor, "of floor": gain / of_floor}


async def rate(url: str, runs: int, nodes: int) -> float:
    """Runs a second of so many nodes, from the first start to the last end."""
    with ExitStack() as stack:
        children = [stack.enter_context(_node(url, runs // nodes)) for _ in range(nodes)]
        for child in children:
            await _hear(child, "ready")
        line = await asyncpg.connect(url)
        try:
            before = await line.fetchval(DONE, CHAIN)
            began = perf_counter()
            for child in children:
                _say(child)
            for child in children:
                await _hear(child, "started")
            await _ended(line, before + runs // nodes * nodes)
            return (runs // nodes * nodes) / (perf_counter() - began)
        finally:
            await line.close()


async def _ended(line: Any, wanted: int) -> None:
    until = perf_counter() + PATIENCE
    while await line.fetchval(LEFT, CHAIN):
        if perf_counter() > until:
            raise NotDone(f"runs are under way after {PATIENCE:g} seconds")
        await asyncio.sleep(LOOK)
    if (done := await line.fetchval(DONE, CHAIN)) != wanted:
        raise NotDone(f"{done} runs succeeded instead of {wanted}")


def _node(url: str, runs: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.nodes", url, str(runs)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def _hear(child: subprocess.Popen[str], word: str) -> None:
    assert child.stdout is not None
    said = await asyncio.to_thread(child.stdout.readline)
    if said.strip() != word:
        raise NotDone(f"a node said '{said.strip()}' instead of '{word}'")


def _say(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


if __name__ == "__main__":
    loop.run(serve(sys.argv[1], int(sys.argv[2])))
