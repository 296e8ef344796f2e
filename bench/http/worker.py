"""One worker over HTTP in a process of its own, until its input ends. `python -m ... ADDRESS`."""

from __future__ import annotations

import asyncio
import sys

from bench.engine.workflows import tasks
from bench.engine.workloads import IN_FLIGHT
from penstock.engine import event_loop
from penstock.engine.services import spare_collections
from penstock.remote.connection import Connection
from penstock.remote.gate import HttpGate
from penstock.workers.task import tasks_of
from penstock.workers.worker.worker import Worker


async def work(base: str) -> None:
    spare_collections()
    gate, stop = HttpGate(Connection(base)), asyncio.Event()
    worker = Worker(gate, tasks_of(tasks()), name="bench", concurrency=IN_FLIGHT, now=gate.now)
    working = asyncio.create_task(worker.run(stop))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    stop.set()
    await working
    await gate.close()


if __name__ == "__main__":
    event_loop.run(work(sys.argv[1]))
