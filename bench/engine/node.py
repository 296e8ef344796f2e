"""A node in a process of its own: does one run, says so, and idles until its input ends. `python -m ... URL`."""

from __future__ import annotations

import asyncio
import sys

from bench.engine.workflows import CHAIN, tasks
from bench.engine.workloads import prepared
from penstock.engine import event_loop
from penstock.engine.engine import Engine


async def serve(url: str) -> None:
    async with Engine(url, tasks=tasks()) as engine:
        await prepared(engine)
        run = await engine.wait(await engine.start(CHAIN), 60)
        print(run["status"], flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    event_loop.run(serve(sys.argv[1]))
