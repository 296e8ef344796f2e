"""What operators look at: task lists and workers."""

from __future__ import annotations

from typing import Any

from penstock.api.ask import Ask
from penstock.api.call import Calls
from penstock.api.paging import Page
from penstock.api.wire.operations import Queue, WorkerSeen

calls = Calls("operations")


@calls.get("/api/queues", "read", gives=Page[Queue])
async def list_queues(ask: Ask[None, None]) -> Page[Any]:
    """The task lists: what waits, is held, is under way, and since when the oldest waits."""
    return Page(await ask.engine.queues())


@calls.get("/api/workers", "read", gives=Page[WorkerSeen])
async def list_workers(ask: Ask[None, None]) -> Page[Any]:
    """The workers that are there."""
    return Page(await ask.engine.workers())
