"""The desk of workers that come over HTTP: who is there, who waits, what each token holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from msgspec import Struct

from penstock.access.caller import Caller
from penstock.api.work.errors import TooManyPolls
from penstock.api.work.leases import Seal
from penstock.engine.engine import Engine
from penstock.flow.payload import PAYLOAD_LIMIT
from penstock.runtime.gate import Assignment, Gate
from penstock.store.errors import StoreAway
from penstock.store.people import Notes
from penstock.store.rows import Lease, Worker

POLLS = 1000
"""Polls that may wait at one node."""
ATTEND = 15.0
"""Seconds after which a worker that only polls is noted as there once more."""
KNOWN = 10_000
"""Workers that are remembered."""

log = logging.getLogger("penstock.work")


class Behind(Struct, frozen=True):
    """What is behind the desk."""

    gate: Gate
    now: Callable[[], datetime]
    seal: Seal
    notes: Notes


async def behind_engine(engine: Engine) -> Behind:
    """The gate of an engine; its seal is that of the installation, so that any node reads any node's leases."""
    running = await engine.running()
    key = await running.store.keep_note("lease_key", token_hex(32))
    return Behind(running.node.dispatch, running.node.clock.now, Seal(bytes.fromhex(key)), running.store)


class Desk:
    """State of one node for workers over HTTP; lost without harm when it ends."""

    def __init__(self, behind: Behind | None = None, limit: int = PAYLOAD_LIMIT) -> None:
        self._behind, self.limit = behind, limit
        self._opening = asyncio.Lock()
        self._polls: dict[str, set[asyncio.Task[list[Assignment]]]] = {}
        self._there: dict[str, tuple[Worker, float]] = {}
        self._holdings: dict[str, dict[Lease, float]] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self.open = 0  # polls that wait
        self.closed = False
        self.offered: dict[str, str] = {}  # what was noted of offers, by task

    async def behind(self, engine: Engine) -> Behind:
        """The gate and what goes with it, found at the first call."""
        async with self._opening:
            if self._behind is None:
                self._behind = await behind_engine(engine)
            return self._behind

    # -- polls ---------------------------------------------------------------------------------------------

    @contextmanager
    def waiting(self, worker: str, claiming: asyncio.Task[list[Assignment]]) -> Iterator[None]:
        """While a poll is under way. It is cancelled at the end where it is not over."""
        self.open += 1
        mine = self._polls.setdefault(worker, set())
        mine.add(claiming)
        try:
            yield
        finally:
            self.open -= 1
            mine.discard(claiming)
            if not mine:
                self._polls.pop(worker, None)
            claiming.cancel()

    def refuse_crowd(self) -> None:
        """Raises TooManyPolls, StoreAway where the server stops."""
        if self.closed:
            raise StoreAway("this server is stopping")
        if self.open >= POLLS:
            raise TooManyPolls(POLLS)

    def hang_up(self, worker: str) -> None:
        """End the polls of one worker: each is answered with what it has."""
        for claiming in self._polls.get(worker, ()):
            claiming.cancel()

    def close(self) -> None:
        """End all polls and take no more: nobody should hold up a server that stops."""
        self.closed = True
        for worker in list(self._polls):
            self.hang_up(worker)

    # -- who is there --------------------------------------------------------------------------------------

    def seen(
        self, behind: Behind, worker: str, lists: Sequence[str], tasks: Sequence[str], most: int
    ) -> None:
        """A worker polls: note now and then that it is there."""
        at = asyncio.get_running_loop().time()
        known, noted = self._there.get(worker, (None, 0.0))
        if known is None:
            known = Worker(
                id=worker, name=worker, task_lists=tuple(lists), tasks=tuple(tasks),
                concurrency=most, started_at=behind.now(),
            )  # fmt: skip
        elif at - noted < ATTEND:
            return
        self.remember(known)
        self.later(behind.gate.attend(known))

    def remember(self, worker: Worker) -> None:
        """It was noted as there just now."""
        self._there.pop(worker.id, None)
        self._there[worker.id] = (worker, asyncio.get_running_loop().time())
        if len(self._there) > KNOWN:
            self._there.pop(next(iter(self._there)))

    def started_at(self, worker: str, now: datetime) -> datetime:
        """When it was seen first."""
        known = self._there.get(worker)
        return now if known is None else known[0].started_at

    def forget(self, worker: str) -> None:
        self._there.pop(worker, None)
        self.hang_up(worker)

    def later(self, chore: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for; where it fails, the next sign of life mends it."""
        task = asyncio.ensure_future(chore)
        self._chores.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._chores.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("a worker could not be noted as there, or given up: %s", error)

    # -- what tokens hold ----------------------------------------------------------------------------------

    def held(self, token: str) -> int:
        """Tasks that the workers of a token hold here, as far as this node knows."""
        at, holding = asyncio.get_running_loop().time(), self._holdings.get(token, {})
        for lease in [lease for lease, until in holding.items() if until <= at]:
            del holding[lease]
        return len(holding)

    def hold(self, caller: Caller, leases: Iterable[tuple[Lease, datetime | None]], now: datetime) -> None:
        """The workers of a token with a limit hold these until then."""
        if caller.concurrency is None or caller.token_id is None:
            return
        holding, at = self._holdings.setdefault(caller.token_id, {}), asyncio.get_running_loop().time()
        for lease, until in leases:
            if until is not None:
                holding[lease] = at + (until - now).total_seconds()

    def let_go(self, token: str | None, leases: Sequence[Lease]) -> None:
        holding = self._holdings.get(token, {}) if token is not None else {}
        for lease in leases:
            holding.pop(lease, None)


def utc_now() -> datetime:
    return datetime.now(UTC)
