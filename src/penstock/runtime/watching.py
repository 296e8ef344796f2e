"""Waiting for a run to change: told at once by this node, found by looking where another node did it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from penstock.flow.run import Snapshot
from penstock.runtime.deciding import Decision
from penstock.runtime.memory import Live

LOOK_AGAIN = 0.5


class Watching:
    """Who waits for which run."""

    def __init__(self, look: Callable[[str], Awaitable[Live]], shared: bool) -> None:
        self._look, self._shared = look, shared
        self._waiters: dict[str, set[asyncio.Future[Live]]] = {}

    def settled(self, decision: Decision) -> None:
        """A run went on: wake who waits for it."""
        if self._waiters:
            for waiter in self._waiters.pop(decision.plan.snapshot.run.id, ()):
                if not waiter.done():
                    waiter.set_result(decision.live)

    def fail(self, error: BaseException) -> None:
        """Nothing will change any more here."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(error)
        self._waiters.clear()

    async def until(self, run: str, wanted: Callable[[Snapshot], bool]) -> Live:
        """Wait until the run is as wanted. Raises UnknownRun."""
        told: Live | None = None
        while True:
            change = self._change(run)
            try:
                # What this node wrote need not be read; but where nobody else writes, reading costs nothing.
                live = told if told is not None and self._shared else await self._look(run)
                if wanted(live.snapshot):
                    return live
                await asyncio.wait([change], timeout=LOOK_AGAIN if self._shared else None)
                told = change.result() if change.done() else None
            finally:
                self._forget(run, change)

    def _change(self, run: str) -> asyncio.Future[Live]:
        change: asyncio.Future[Live] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(run, set()).add(change)
        return change

    def _forget(self, run: str, change: asyncio.Future[Live]) -> None:
        waiters = self._waiters.get(run)
        if waiters is not None:
            waiters.discard(change)
            if not waiters:
                del self._waiters[run]
        change.cancel()
