"""Waits for a run to change: this node reports its own changes, and polls for those of other nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.store.errors import StoreAway

POLL_INTERVAL = 0.5

Observed = tuple[Flow, Snapshot]
Wanted = Callable[[Snapshot], bool]


class RunWatch:
    """Who waits for which run, and what they wait for."""

    def __init__(
        self, run_cache: RunCache, look: Callable[[str], Awaitable[CachedRun]], shared: bool
    ) -> None:
        self._run_cache, self._look, self._shared = run_cache, look, shared
        self._waiters: dict[str, list[tuple[Wanted, asyncio.Future[Observed]]]] = {}

    def settled(self, decisions: Sequence[Decision]) -> None:
        """Runs changed: wake the callers that wait for this."""
        if not self._waiters:
            return
        for decision in decisions:
            snapshot = decision.plan.snapshot
            for wanted, waiter in self._waiters.get(snapshot.run.id, ()):
                if not waiter.done() and wanted(snapshot):
                    waiter.set_result((decision.live.flow, snapshot))

    def fail(self, error: BaseException) -> None:
        """Nothing will change here from now on."""
        for waiters in self._waiters.values():
            for _, waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(error)
        self._waiters.clear()

    async def until(self, run: str, wanted: Wanted) -> Observed:
        """Wait until the run is as wanted. Raises UnknownRun."""
        waiter: asyncio.Future[Observed] = asyncio.get_running_loop().create_future()
        entry = (wanted, waiter)
        # Before looking: a change meanwhile must not be missed.
        self._waiters.setdefault(run, []).append(entry)
        try:
            # Another node may have led the run on: what is remembered here tells nothing.
            live = None if self._shared else self._run_cache.get(run)
            if live is None:
                live = await self._look(run)
            while not wanted(live.snapshot):
                if not self._shared:
                    return await waiter
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_INTERVAL):
                        return await asyncio.shield(waiter)
                with suppress(StoreAway):  # who waits for hours must not suffer for a minute
                    live = await self._look(run)
            return live.flow, live.snapshot
        finally:
            self._forget(run, entry)

    def _forget(self, run: str, entry: tuple[Wanted, asyncio.Future[Observed]]) -> None:
        entry[1].cancel()
        waiters = self._waiters.get(run)
        if waiters is not None and entry in waiters:
            waiters.remove(entry)
            if not waiters:
                del self._waiters[run]
