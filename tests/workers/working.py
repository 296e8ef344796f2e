"""A worker at work behind a scripted gate, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.task import tasks_of
from penstock.workers.worker.worker import Worker


@asynccontextmanager
async def working(gate: ScriptedGate, tasks: Any, **more: Any) -> AsyncIterator[Worker]:
    """A worker with these tasks, stopped and gone at the end."""
    worker = Worker(gate, tasks_of(tasks), name="test", **more)
    stop = asyncio.Event()
    running = asyncio.ensure_future(worker.run(stop))
    try:
        yield worker
    finally:
        stop.set()
        await asyncio.wait_for(running, 30)


async def reported(gate: ScriptedGate, *runs: str) -> list[Any]:
    """How the attempts of these runs ended."""
    await gate.until(lambda: all(run in gate.outcomes() for run in runs))
    return [gate.outcomes()[run] for run in runs]
