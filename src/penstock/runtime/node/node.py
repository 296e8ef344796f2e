"""A node: everything that keeps runs going on one store. All nodes are equal; there is no leader."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from penstock.flow.errors import PenstockError
from penstock.runtime.commands.commands import Commands
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.commands.repair import RepairCommands
from penstock.runtime.commands.tokens import Tokens
from penstock.runtime.decisions.advancer import Advancer, RequestQueue
from penstock.runtime.dispatch.dispatch import Dispatch
from penstock.runtime.dispatch.redaction import Redaction, no_redaction
from penstock.runtime.errors import UnknownRun, UnreadableRun
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.node.ids import new_run_id
from penstock.runtime.node.retention import DEFAULT_RETENTION, Retention
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.runtime.node.run_watch import RunWatch
from penstock.runtime.node.supervisor import LoopHealth, keep_up
from penstock.runtime.node.timers import Timers
from penstock.runtime.queries.call_stats import CallStats
from penstock.runtime.queries.change_feed import Changes
from penstock.store.protocol import Store

SHARED_POLL_INTERVAL = timedelta(seconds=1)
EXCLUSIVE_POLL_INTERVAL = timedelta(seconds=60)
"""How often a node that owns its store exclusively polls it as a safeguard."""

log = logging.getLogger("penstock.node")


class Node:
    """Decides runs, keeps time, dispatches tasks. `begin` it on a loop, `stop` it on the same."""

    def __init__(
        self,
        store: Store,
        clock: StoreClock,
        *,
        shared: bool,
        ids: Callable[[], str] = new_run_id,
        days: Mapping[str, timedelta] | None = None,
        suffix: str = "",
        redaction: Redaction = no_redaction,
    ) -> None:
        self.store, self.clock, self.shared = store, clock, shared
        self.flows = FlowCache(store, shared, suffix)
        self.owners = Owners()
        self.run_cache = RunCache(store, self.flows)
        self.requests = RequestQueue()
        self.commands = Commands(store, self.flows, self.owners, clock, self.requests.submit, self.look, ids)
        self.repairs = RepairCommands(store, self.commands, self.flows, self.owners, clock)
        self.tokens = Tokens(store, self.run_cache, self.repairs, self.owners)
        self.run_watch = RunWatch(self.run_cache, self.look, shared)
        self.changes = Changes(store.states, partial(store.notify, "runs"))
        poll = SHARED_POLL_INTERVAL if shared else EXCLUSIVE_POLL_INTERVAL
        self.timers = Timers(store, clock, poll, self.requests.submit, self.commands.begin_child)
        self.dispatch = Dispatch(
            store, self.run_cache, clock, self.requests.submit, self.timers.expect, redaction, shared=shared
        )
        settled = [self.timers.settled, self.run_watch.settled, self.changes.settled]
        self.advancer = Advancer(
            store=store,
            flows=self.flows,
            run_cache=self.run_cache,
            requests=self.requests,
            dispatch=self.dispatch,
            timers=self.timers,
            clock=clock,
            shared=shared,
            settled=settled,
        )
        self.retention = Retention(store, {**DEFAULT_RETENTION, **(days or {})})
        self.calls = CallStats()
        self.loop_health: dict[str, LoopHealth] = {}
        self._loops: list[asyncio.Task[None]] = []

    @classmethod
    async def on(cls, store: Store, *, shared: bool, **more: Any) -> Node:
        """A node on a store, by the store's time."""
        clock = StoreClock(await store.now(), asyncio.get_running_loop().time)
        return cls(store, clock, shared=shared, **more)

    def begin(self) -> None:
        """Start the loops. A loop that fails is restarted."""
        loops: dict[str, Callable[[], Awaitable[None]]] = {
            "advancing": self.advancer.run,
            "ringing": self.timers.run,
            "retention": self.retention.run,
        }
        if self.shared:
            loops["hearing"] = self._hear
            loops["telling"] = self.changes.tell_others
        for name, loop in loops.items():
            self.loop_health[name] = LoopHealth()
            self._loops.append(asyncio.create_task(keep_up(name, loop, self.loop_health[name]), name=name))

    async def stop(self) -> None:
        """Finish active writes and stop; waiting callers get an error. The store stays open."""
        try:
            async with asyncio.timeout(10):
                await self.advancer.drain()
        except TimeoutError:
            log.warning("stopped before all decisions were written: they are made again at the next start")
        await self.dispatch.close()
        await self.kill()

    async def kill(self) -> None:
        """Stop at once."""
        self.commands.stop()
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        error = PenstockError("this engine is closed")
        self.requests.close(error)
        self.run_watch.fail(error)

    async def look(self, run: str, own: bool = False) -> CachedRun:
        """The run as the store has it, or as this node wrote it. Raises UnknownRun, UnreadableRun.

        With `own` as this node wrote it also where others may have led it on since: it was just made here.
        """
        live = self.run_cache.get(run) if own or not self.shared else None
        if live is not None:
            return live
        found = (await self.run_cache.fetch([run])).get(run)
        if found is None:
            raise UnknownRun(run)
        if isinstance(found, BaseException):
            raise UnreadableRun(run, found) from found
        return found

    async def _hear(self) -> None:
        """Take hints from other nodes, without end."""
        while True:
            what = await self.store.listen(timedelta(seconds=30))
            if what == "tasks":
                self.dispatch.look()
            elif what is not None and what.startswith("runs="):
                await self.changes.heard([run for run in what[5:].split(",") if run])
            elif what is not None:
                self.timers.look()
