"""What an open engine consists of: the store, the node on it, and a worker for the tasks of this process."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from penstock.boxes.callback_tokens import CallbackTokens
from penstock.boxes.task_environment import TaskEnvironment
from penstock.engine.authoring.offers import keep_offers
from penstock.engine.authoring.publication import Catalog
from penstock.engine.background.box_worker import SHORT_TASKS, Boxes
from penstock.engine.background.outbox_publisher import Publishing
from penstock.engine.background.webhooks import Webhooks
from penstock.objects.update_order import UpdateOrder
from penstock.runtime.node.node import Node
from penstock.runtime.node.supervisor import LoopHealth, keep_up
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.sources.triggers.triggers import Means, Triggers
from penstock.store.open import is_shared, open_store
from penstock.store.protocol import Store
from penstock.topics.buses import Buses
from penstock.workers.execute.fleet import ExecutorFactory
from penstock.workers.task import Task
from penstock.workers.worker.worker import CONCURRENCY, HERE, Worker, new_local_incarnation

STOP_TIMEOUT = timedelta(seconds=30)
COLLECTION_THRESHOLD = 200_000
"""New objects after which the garbage collector searches for cycles; Python's own limit is 700."""


class EngineServices:
    """Opened as a whole and closed as a whole."""

    def __init__(
        self,
        store: Store,
        node: Node,
        worker: Worker | None,
        tasks: Mapping[str, Task],
        triggers: Triggers | None = None,
        means: Means | None = None,
        environment: TaskEnvironment | None = None,
        publishing: Publishing | None = None,
        *,
        vault: Vault,
    ) -> None:
        self.store, self.node, self.worker, self.tasks = store, node, worker, tasks
        self.vault = vault
        self.triggers, self.means, self.publishing = triggers, means or Means(), publishing
        self.catalog = Catalog(store, node.flows, node.owners, tasks)
        self.callback_tokens = CallbackTokens(store)
        self.at_end: list[Callable[[], Awaitable[None]]] = []
        """Callbacks after the last decision, while the store can still be read."""
        self.looking_back = asyncio.Semaphore(1)
        """Long histories are read one at a time: several at once would starve all other callers."""
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._triggers: asyncio.Task[None] | None = None
        self._publishing: asyncio.Task[None] | None = None
        if node.shared:
            self.means.stores.update_order = UpdateOrder(store, node.clock.now)
        if environment is not None:
            environment.stores = self.means.stores
        self.environment, self.boxes = environment, None if environment is None else Boxes(node, environment)
        boxes = {} if self.boxes is None else self.boxes.tasks
        self.callable = {**{name: each for name, each in boxes.items() if name in SHORT_TASKS}, **tasks}
        spare_collections()
        node.begin()
        if worker is not None:
            node.dispatch.attach(worker)
            self._working = asyncio.create_task(worker.run(self._stop), name="worker")
        if triggers is not None:
            pulse = node.loop_health["feeding"] = LoopHealth()
            self._triggers = asyncio.create_task(keep_up("feeding", triggers.run, pulse), name="feeding")
        if publishing is not None:
            pulse = node.loop_health["publishing"] = LoopHealth()
            loop = keep_up("publishing", publishing.run, pulse)
            self._publishing = asyncio.create_task(loop, name="publishing")

    @classmethod
    async def open(
        cls, url: str, tasks: Mapping[str, Task], *, migrate: bool = True, **more: Any
    ) -> EngineServices:
        """Open the store at an address and begin. Raises StoreError, SecretKeyError."""
        store = await open_store(url, migrate=migrate, warm_up=more.get("work", True))
        try:
            vault = Vault(store, Keys.of(url))
            return await cls.on(store, tasks, shared=is_shared(url), vault=vault, **more)
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
        grace: timedelta = STOP_TIMEOUT,
        retention: Mapping[str, timedelta] | None = None,
        fleet: ExecutorFactory | None = None,
        suffix: str = "",
        feed: bool = True,
        means: Means | None = None,
        environment: TaskEnvironment | None = None,
        vault: Vault | None = None,
    ) -> EngineServices:
        """Begin on a store that is open: `suffix` is appended to the names of all task lists, and with `feed` the
        sources of workflows are fed."""
        means = means or Means()
        vault = vault or Vault(store, _keys_of(store))
        if work:  # what its tasks say must be redacted
            await vault.check()
        node = await Node.on(store, shared=shared, days=retention, suffix=suffix, redaction=vault.redaction)
        if not shared:  # no other node has the store: workers inside an earlier node are dead
            await store.deregister(HERE, dead=True)
        worker = None
        if work and tasks:
            worker = Worker(
                node.dispatch,
                tasks,
                name=name or f"{socket.gethostname()}:{os.getpid()}",
                task_lists=task_lists,
                suffix=suffix,
                concurrency=concurrency,
                processes=processes,
                sources=sources,
                grace=grace,
                now=node.clock.now,
                new_id=new_local_incarnation,
                fleet=fleet,
            )
        if shared and worker is not None:  # others show and check them too
            await keep_offers(store, [task.offer for task in tasks.values()])
        triggers = Triggers(node, means) if feed else None
        webhooks = (
            None
            if environment is None or environment.only is not None
            else Webhooks(environment, node.clock.now)
        )
        takers = feed and (means.buses or webhooks)
        publishing = Publishing(node, Buses(means.buses), webhooks=webhooks) if takers else None
        return cls(store, node, worker, tasks, triggers, means, environment, publishing, vault=vault)

    async def serve_boxes(self) -> None:
        """Do the built-in tasks from now on: what they may reach is known."""
        if self.boxes is not None:
            await self.boxes.begin(self._stop)

    def look(self) -> None:
        """There may be work for the triggers."""
        if self.triggers is not None:
            self.triggers.look()

    def wind_down(self) -> None:
        """Claim nothing more; running tasks continue until `close`."""
        self._stop.set()

    async def close(self, grace: timedelta | None = None) -> None:
        """Claim nothing more, let what runs finish within the grace, write all, and close."""
        if self.boxes is not None:
            self.boxes.allow(grace)
        self._stop.set()
        if self._triggers is not None and self.triggers is not None:
            self._triggers.cancel()
            await asyncio.gather(self._triggers, return_exceptions=True)
            await self.triggers.stop()
        if self.boxes is not None:
            await self.boxes.end()
        if self.worker is not None and self._working is not None:
            if grace is not None:
                self.worker.grace = grace
            await asyncio.gather(self._working, return_exceptions=True)
        await self.node.stop()
        if self._publishing is not None and self.publishing is not None:
            self._publishing.cancel()
            await asyncio.gather(self._publishing, return_exceptions=True)
            await self.publishing.stop()
        for each in self.at_end:
            await each()
        await self.means.stores.close()
        await self.store.close()


def _keys_of(store: Store) -> Keys:
    """Next to the file of a store that the caller opened, if it has one; else in this folder."""
    path = getattr(store, "path", None)
    return Keys.of(path if isinstance(path, str) else "memory:")


def spare_collections() -> None:
    """Let the garbage collector of this process look less often: runs are values, and hardly ever in cycles.

    At saturation every collection would walk thousands of live runs for nothing. One that was set higher, or
    switched off, stays as it is.
    """
    young, middle, old = gc.get_threshold()
    if 0 < young < COLLECTION_THRESHOLD:
        gc.set_threshold(COLLECTION_THRESHOLD, middle, old)
