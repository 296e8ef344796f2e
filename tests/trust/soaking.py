"""Runs come and go for as long as is wanted, and what must not grow is measured: `python -m tests.trust.soaking URL`.

It is a process of its own, so that nothing else is in the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median

from msgspec import Struct

from penstock import Engine
from penstock.store.open import is_shared
from tests.trust.beside import beside

WORK = """
penstock: 1
name: soak
external: [go]
steps:
  a: {task: echo, with: {n: "${ data.n }"}}
  rest: {task: wait, with: {for: 10ms}}
  b: {task: echo, after: [a, rest, go], with: {n: "${ data.n }"}}
"""
DAYS = {status: timedelta(0) for status in ("succeeded", "failed", "canceled", "timed_out")}
EACH = 8
"""Runs that are under way at a time."""
TIDIED = 5 * EACH
"""Runs after which what is dead is cleared away."""
REMEMBERED = 200
"""Runs that the node may remember: it takes longer to fill than a short soak lasts."""


class Sample(Struct, frozen=True):
    """What there was at a time; `size` is of the store, in bytes."""

    seconds: float
    runs: int
    memory: int
    held: int
    size: int
    log: int
    files: int
    tasks: int


def echo_of(leak: int) -> Callable[[int], int]:
    """A task that returns its input, and keeps so many bytes of each call."""
    kept: list[bytes] = []

    def echo(n: int) -> int:
        kept.append(bytes(leak))
        return n

    return echo


async def round_of(engine: Engine, first: int) -> None:
    """Some runs from their start to their end, and away."""
    runs = [await engine.start("soak", input={"n": first + n}, labels={"n": str(n)}) for n in range(EACH)]
    for run in runs:
        await engine.emit("go", run=run, id=run)
    for run in runs:
        await engine.wait(run, 60)
    store = (await engine.running()).store
    while (await store.retain(DAYS, 1_000, False)).rows["run"]:
        continue


async def tidy(url: str) -> None:
    """What the server does by itself now and then: by the count of runs here, for the room that dead rows take until
    then would else follow how busy the machine is."""
    if not is_shared(url):
        return
    async with beside(url) as rows:
        names = await rows.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        await rows.sql("VACUUM " + ", ".join(name for (name,) in names))


async def size_of(url: str) -> tuple[int, int]:
    """Bytes of the store, and of the log of a SQLite file, which has a bound of its own."""
    async with beside(url) as rows:
        if not is_shared(url):
            [(pages,)], [(size,)] = (
                await rows.fetch("PRAGMA page_count"),
                await rows.fetch("PRAGMA page_size"),
            )
            return pages * size, Path(f"{url}-wal").stat().st_size
        [(size,)] = await rows.fetch("SELECT pg_database_size(current_database())")
        return int(size), 0


class Mallinfo2(ctypes.Structure):
    """What glibc says of its heaps, all of them together."""

    NAMES = (
        *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
        *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
    )
    _fields_ = [(name, ctypes.c_size_t) for name in NAMES]


def memory() -> int:
    """Bytes that are in use: blocks that were allocated and not freed, of Python, of SQLite and of every library.

    What the process holds says less: as objects come and go, an allocator keeps pages for the one block that is left
    in each, and how many depends on how busy the machine was.
    """
    gc.collect()
    glibc = ctypes.CDLL(None)
    glibc.mallinfo2.restype = Mallinfo2
    heaps = glibc.mallinfo2()
    return int(heaps.uordblks + heaps.hblkhd)


def held() -> int:
    """Bytes that the process holds, once what is free has been given back."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def soak(url: str, seconds: float, samples: int, leak: int) -> list[Sample]:
    """So many samples, evenly over the time; at least a round of runs lies between two."""
    found: list[Sample] = []
    # As many threads for tasks as can be at work: more would come as a machine that is starved makes them wait.
    async with Engine(url, tasks={"echo": echo_of(leak)}, grace=0, feed=False, concurrency=EACH) as engine:
        await engine.publish(WORK)
        (await engine.running()).node.run_cache._max_runs = REMEMBERED
        began, runs = time.monotonic(), 0
        while len(found) < samples:
            await round_of(engine, runs)
            runs += EACH
            if runs % TIDIED == 0:
                await tidy(url)
            past = time.monotonic() - began
            if past >= (len(found) + 1) * seconds / samples:
                files, tasks = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
                found.append(Sample(past, runs, memory(), held(), *await size_of(url), files, tasks))
    return found


def growth(values: Sequence[int]) -> float:
    """By what share the last third is above the middle one; the first is for warming up."""
    third = len(values) // 3
    return float(median(values[-third:]) / median(values[-2 * third : -third]) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.trust.soaking", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--leak", type=int, default=0, help="bytes that each call of a task leaks")
    options = parser.parse_args()
    found = asyncio.run(soak(options.url, options.seconds, options.samples, options.leak))
    json.dump(
        [{name: getattr(each, name) for name in Sample.__struct_fields__} for each in found], sys.stdout
    )


if __name__ == "__main__":
    main()
