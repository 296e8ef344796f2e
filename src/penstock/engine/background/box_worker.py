"""The worker that runs the built-in tasks, inside every server and every engine of its own."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from penstock.boxes.callback_tokens import CallbackTokens
from penstock.boxes.kinds import tasks_in
from penstock.boxes.task_environment import EnvironmentParts, TaskEnvironment
from penstock.engine.background.call_order import CallOrder
from penstock.engine.background.function_jobs import Jobs
from penstock.engine.background.reminders import Reminding
from penstock.flow.compile.compile import BOXES
from penstock.runtime.node.node import Node
from penstock.store.errors import StoreError
from penstock.store.rows.access import AuditRow
from penstock.workers.worker.worker import Worker, new_local_incarnation

MAX_CONCURRENT = 256
MAX_POLLING = 4000
"""Additional tasks that only wait for their next poll."""
SHORT_TASKS = ("http", "mail")
"""Those that may run inside a call."""
STOP_TIMEOUT = timedelta(seconds=2)
"""How long a stop waits for active calls. A task that polls for hours is returned and continues elsewhere."""


class Boxes:
    """Serves the task list of the built-in tasks."""

    def __init__(self, node: Node, environment: TaskEnvironment) -> None:
        self.tasks = tasks_in(environment)
        self._node, self._environment = node, environment
        self.worker = Worker(
            node.dispatch,
            self.tasks,
            name=f"{socket.gethostname()}:{os.getpid()}:{BOXES}",
            task_lists=(BOXES,),
            concurrency=MAX_CONCURRENT,
            threads=32,
            grace=STOP_TIMEOUT,
            now=node.clock.now,
            new_id=new_local_incarnation,
            hands_back=True,
            idle=lambda: min(environment.idle, MAX_POLLING),
        )
        environment.attach(
            EnvironmentParts(
                callback_tokens=environment.parts.callback_tokens or CallbackTokens(node.store),
                jobs=environment.parts.jobs or Jobs(node.store, node.run_cache),
                record=self._record,
                redaction=self._redaction,
                call_order=CallOrder(node.store, node.clock.now),
                rested=self.worker.make_room,
            )
        )
        self._working: asyncio.Task[None] | None = None

    async def _record(self, row: AuditRow) -> None:
        with suppress(StoreError):  # the step fails anyway, and says why
            redact = await self._redaction()
            await self._node.store.record([replace(row, reason=redact(row.reason))])

    async def _redaction(self) -> Callable[[Any], Any]:
        """Looked up each time: a server gives the node another one."""
        return await self._node.dispatch.redaction()

    async def begin(self, stop: asyncio.Event) -> None:
        if self._working is None and self.tasks:
            self._environment.open()
            if isinstance(self._environment.parts.jobs, Jobs):
                await self._environment.parts.jobs.sweep()
            self._node.dispatch.attach(self.worker)
            self._node.advancer.observe(Reminding(self._environment).settled)
            self._working = asyncio.create_task(self.worker.run(stop), name=BOXES)

    def allow(self, grace: timedelta | None) -> None:
        """How long active calls may take to finish once `stop` is set. Call this before setting it."""
        self.worker.grace = min(STOP_TIMEOUT, STOP_TIMEOUT if grace is None else grace)

    async def end(self) -> None:
        """Let active calls finish within the grace; `stop` was set."""
        if self._working is not None:
            await asyncio.gather(self._working, return_exceptions=True)
            await self._environment.close()
