"""Background work that nobody awaits: it is referenced until it ends, and its failures are logged."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from logging import Logger
from typing import Any


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait until an event is set, for at most this long; whether it was set in time."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


class BackgroundTasks:
    """Background tasks of one object. Holds references so asyncio does not drop them."""

    def __init__(self, log: Logger, failure: str) -> None:
        self._log, self._failure = log, failure
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.warning("%s: %s", self._failure, error)

    async def wait(self, seconds: float) -> None:
        """Wait until all are done, for at most this long."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def end(self) -> None:
        """Cancel everything that is not done."""
        left = list(self._tasks)
        self.cancel()
        await asyncio.gather(*left, return_exceptions=True)
