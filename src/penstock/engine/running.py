"""What an engine has at work: the store, the node on it, and a worker for the tasks of this process."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from penstock.engine.catalog import Catalog
from penstock.engine.offering import keep_offers
from penstock.runtime.node import Node
from penstock.store.opening import is_shared, open_store
from penstock.store.protocol import Store
from penstock.workers.fleet import Muster
from penstock.workers.task import Task
from penstock.workers.worker import CONCURRENCY, Worker

GRACE = timedelta(seconds=30)
YOUNG = 200_000
"""New objects after which the garbage collector looks for cycles; Python's own limit is 700."""


class Running:
    """Opened as a whole and closed as a whole."""

    def __init__(self, store: Store, node: Node, worker: Worker | None, tasks: Mapping[str, Task]) -> None:
        self.store, self.node, self.worker, self.tasks = store, node, worker, tasks
        self.catalog = Catalog(store, node.flows, tasks)
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        spare_collections()
        node.begin()
        if worker is not None:
            node.dispatch.nudges.append(worker.nudge)
            self._working = asyncio.create_task(worker.run(self._stop), name="worker")

    @classmethod
    async def open(cls, url: str, tasks: Mapping[str, Task], *, migrate: bool = True, **more: Any) -> Running:
        """Open the store at an address and begin. Raises StoreError."""
        store = await open_store(url, migrate=migrate)
        try:
            return await cls.on(store, tasks, shared=is_shared(url), **more)
        except BaseException:
            await store.close()
            raise

    @classmethod
    async def on(
        cls,
        store: Store,
        tasks: Mapping[str, Task],
        *,
        shared: bool,
        work: bool = True,
        name: str | None = None,
        task_lists: Sequence[str] | None = None,
        concurrency: int = CONCURRENCY,
        processes: int = 0,
        sources: Sequence[str] = (),
        grace: timedelta = GRACE,
        retention: Mapping[str, timedelta] | None = None,
        fleet: Muster | None = None,
    ) -> Running:
        """Begin on a store that is open."""
        node = await Node.on(store, shared=shared, days=retention)
        worker = None
        if work and tasks:
            worker = Worker(
                node.dispatch,
                tasks,
                name=name or f"{socket.gethostname()}:{os.getpid()}",
                task_lists=task_lists,
                concurrency=concurrency,
                processes=processes,
                sources=sources,
                grace=grace,
                now=node.clock.now,
                fleet=fleet,
            )
        if shared and worker is not None:  # others show and check them too
            await keep_offers(store, [task.offer for task in tasks.values()])
        return cls(store, node, worker, tasks)

    def wind_down(self) -> None:
        """Claim nothing more; what runs goes on until `close`."""
        self._stop.set()

    async def close(self, grace: timedelta | None = None) -> None:
        """Claim nothing more, let what runs finish within the grace, write all, and close."""
        self._stop.set()
        if self.worker is not None and self._working is not None:
            if grace is not None:
                self.worker.grace = grace
            await asyncio.gather(self._working, return_exceptions=True)
        await self.node.stop()
        await self.store.close()


def spare_collections() -> None:
    """Let the garbage collector of this process look less often: runs are values, and hardly ever in cycles.

    At saturation every collection would walk thousands of live runs for nothing. One that was set higher, or
    switched off, stays as it is.
    """
    young, middle, old = gc.get_threshold()
    if 0 < young < YOUNG:
        gc.set_threshold(YOUNG, middle, old)
