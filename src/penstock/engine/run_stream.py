"""Streams: the history of one run as it grows, and the changes of all runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from penstock.engine.services import EngineServices
from penstock.runtime.queries.change_feed import Reader
from penstock.runtime.queries.history import show_history


class Following:
    """For readers that follow runs."""

    def __init__(self, opened: Callable[[], Awaitable[EngineServices]]) -> None:
        self._opened = opened

    async def last(self, run: str) -> int:
        """The number of the last history entry of a run. Raises UnknownRun."""
        return (await (await self._opened()).node.look(run)).snapshot.seq

    async def run(
        self, run: str, after: int = 0, timeout: float = 15
    ) -> AsyncIterator[dict[str, Any] | None]:
        """The history of a run after an entry, each item once it is durable, to the end of the run.

        None: nothing happened for `timeout` seconds. Raises UnknownRun.
        """
        running = await self._opened()
        node = running.node
        while True:
            snapshot = (await node.look(run)).snapshot
            async for item in show_history(running.store, run, after):
                after = item["seq"]
                yield item
            if snapshot.ended and snapshot.seq <= after:
                return
            seen = after
            try:
                async with asyncio.timeout(timeout):
                    await node.run_watch.until(run, lambda now, seen=seen: now.seq > seen)  # type: ignore[misc]
            except TimeoutError:
                yield None

    async def changes(self, last: str | None = None) -> Reader:
        """A reader of the changes of all runs, from now on or from after the one with the id `last`. Close it."""
        return (await self._opened()).node.changes.reader(last)
