"""The registry of workers that connect over HTTP: who is connected, who waits, what each token uses."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from secrets import token_hex

from msgspec import Struct
from msgspec.structs import replace

from penstock.access.caller import Caller
from penstock.api.work.errors import TooManyPolls, TooManyWorkers
from penstock.api.work.lease_tokens import LeaseTokens
from penstock.engine.engine import Engine
from penstock.flow.model.offer import Offer
from penstock.flow.values.payload import payload_limit
from penstock.runtime.dispatch.gate import Assignment, Gate
from penstock.runtime.node.background_tasks import BackgroundTasks
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.errors import StoreAway
from penstock.store.protocol import Notes
from penstock.store.rows.rows import WORKER_TIMEOUT, Lease, Worker
from penstock.workers.wire import Poll

MAX_POLLS = 1000
"""Polls that may wait at one node."""
MAX_POLLS_PER_TOKEN = 200
"""Among them, polls of one token, so one token cannot lock out other workers."""
REGISTER_INTERVAL = 15.0
"""Seconds after which a worker that only polls is noted as there once more."""
MAX_LISTS_PER_WORKER = 100
"""Task lists that are remembered of one worker."""
MAX_WORKERS = 10_000
"""Workers that are remembered."""
MAX_WORKERS_PER_TOKEN = 1000
"""Among them, workers of one token seen within a minute: each is a row that every reader reads."""
MAX_NAMES_LENGTH = 64 * 1024
"""Characters of task names that are stored for one worker."""

log = logging.getLogger("penstock.work")


class Behind(Struct, frozen=True):
    """What a worker reaches through the registry."""

    gate: Gate
    now: Callable[[], datetime]
    seal: LeaseTokens
    notes: Notes
    own: Collection[str] = ()  # the tasks that this node does itself
    suffix: str = ""  # of the names of task lists
    flows: FlowCache | None = None  # by which runs are decided


async def behind_engine(engine: Engine) -> Behind:
    """The gate of an engine; its seal is that of the installation, so that any node reads any node's leases."""
    running = await engine.running()
    fresh = token_hex(32)
    key = await running.store.put_note("lease_key", fresh, replace=False) or fresh
    seal = LeaseTokens(bytes.fromhex(key))
    node = running.node
    return Behind(
        gate=node.dispatch,
        now=node.clock.now,
        seal=seal,
        notes=running.store,
        own=running.tasks,
        suffix=node.flows.suffix,
        flows=node.flows,
    )


def worker_key(caller: Caller, worker: str) -> str:
    """The id of a worker among those of all tokens: one that takes another's name gets nothing of its work."""
    return worker if caller.token_id is None else f"{caller.token_id}/{worker}"


def noted_tasks(names: Iterable[str]) -> tuple[str, ...]:
    """The tasks of a worker as they are noted: none, which stands for any, where its list would fill the store."""
    tasks = tuple(names)
    return tasks if sum(map(len, tasks)) <= MAX_NAMES_LENGTH else ()


class WorkerRegistry:
    """State of one node for workers over HTTP; lost without harm when it ends."""

    def __init__(self, behind: Behind | None = None, limit: int | None = None) -> None:
        self._behind, self.limit = behind, limit or payload_limit()
        self._opening = asyncio.Lock()
        self._polls: dict[str, set[asyncio.Task[list[Assignment]]]] = {}
        self._shares: Counter[str] = Counter()  # polls that wait, by token
        self._there: dict[str, tuple[Worker, float]] = {}
        self._holdings: dict[str, dict[Lease, float]] = {}
        # If one fails, the next heartbeat repairs it.
        self.background_tasks = BackgroundTasks(log, "a worker could not be noted as there, or given up")
        self.open = 0  # polls that wait
        self.closed = False
        self._offered: dict[str, tuple[Offer, datetime]] = {}  # what is noted, and until when that will do

    async def behind(self, engine: Engine) -> Behind:
        """The gate and what goes with it, found at the first call."""
        async with self._opening:
            if self._behind is None:
                self._behind = await behind_engine(engine)
            return self._behind

    # -- polls ---------------------------------------------------------------------------------------------

    @contextmanager
    def waiting(
        self, caller: Caller, worker: str, claiming: asyncio.Task[list[Assignment]]
    ) -> Iterator[None]:
        """The time of a poll. A poll that is not over by the end is cancelled."""
        self.open += 1
        token = caller.token_id or ""
        self._shares[token] += 1
        mine = self._polls.setdefault(worker, set())
        mine.add(claiming)
        try:
            yield
        finally:
            self.open -= 1
            self._shares[token] -= 1
            if not self._shares[token]:
                del self._shares[token]
            mine.discard(claiming)
            if not mine:
                self._polls.pop(worker, None)
            claiming.cancel()

    def limit_polls(self, caller: Caller) -> None:
        """Raises TooManyPolls, StoreAway where the server stops."""
        if self.closed:
            raise StoreAway("this server is stopping")
        if self.open >= MAX_POLLS:
            raise TooManyPolls(MAX_POLLS)
        if caller.role != "admin" and self._shares[caller.token_id or ""] >= MAX_POLLS_PER_TOKEN:
            raise TooManyPolls(MAX_POLLS_PER_TOKEN, "of this token ")

    def limit_workers(self, caller: Caller, worker: str) -> None:
        """Raises TooManyWorkers: one that comes by ever new names would fill the memory and the store with them."""
        if caller.role == "admin" or caller.token_id is None or worker_key(caller, worker) in self._there:
            return
        since = asyncio.get_running_loop().time() - WORKER_TIMEOUT.total_seconds()
        mine = worker_key(caller, "")
        if (
            sum(id.startswith(mine) and noted > since for id, (_, noted) in self._there.items())
            >= MAX_WORKERS_PER_TOKEN
        ):
            raise TooManyWorkers(MAX_WORKERS_PER_TOKEN)

    def hang_up(self, worker: str) -> None:
        """End the polls of one worker: each is answered with what it has."""
        for claiming in self._polls.get(worker, ()):
            claiming.cancel()

    def close(self) -> None:
        """End all polls and accept no more: a poll must not delay the stop of a server."""
        self.closed = True
        for worker in list(self._polls):
            self.hang_up(worker)

    # -- presence -----------------------------------------------------------------------------------------

    def seen(self, behind: Behind, caller: Caller, poll: Poll, lists: tuple[str, ...]) -> None:
        """A worker polls: store its presence at intervals, and at once if it serves new lists."""
        at, worker = asyncio.get_running_loop().time(), worker_key(caller, poll.worker)
        known, noted = self._there.get(worker, (None, 0.0))
        if known is None:
            known = Worker(
                id=worker,
                name=poll.worker,
                task_lists=lists,
                tasks=noted_tasks(poll.tasks or ()),
                concurrency=poll.max,
                started_at=behind.now(),
            )
        elif at - noted >= REGISTER_INTERVAL:
            known = replace(known, task_lists=lists)
        elif not set(lists) <= set(known.task_lists):
            # Both: one that asks now for these and now for those would be written at every poll.
            both = tuple(dict.fromkeys((*known.task_lists, *lists)))
            known = replace(known, task_lists=both if len(both) <= MAX_LISTS_PER_WORKER else lists)
        else:
            return
        self.remember(known)
        self.background_tasks.begin(self._note(behind, worker))

    async def _note(self, behind: Behind, id: str) -> None:
        """Store the presence of a worker; again if its offers came meanwhile, because this may overwrite them."""
        written: Worker | None = None
        while (known := self._there.get(id)) is not None and known[0] is not written:
            written = known[0]
            await behind.gate.register(written)

    def remember(self, worker: Worker) -> None:
        """It was noted as there just now."""
        self._there.pop(worker.id, None)
        self._there[worker.id] = (worker, asyncio.get_running_loop().time())
        if len(self._there) > MAX_WORKERS:
            self._there.pop(next(iter(self._there)))

    def note(self, offers: Iterable[tuple[Offer, datetime]]) -> None:
        """These offers are noted, and need not be again before then."""
        if len(self._offered) > MAX_WORKERS:
            self._offered.clear()
        self._offered.update((offer.name, (offer, until)) for offer, until in offers)

    def is_noted(self, offer: Offer, now: datetime) -> bool:
        known = self._offered.get(offer.name)
        return known is not None and known[0] == offer and now < known[1]

    def started_at(self, worker: str, now: datetime) -> datetime:
        """When it was seen first."""
        known = self._there.get(worker)
        return now if known is None else known[0].started_at

    def forget(self, worker: str) -> None:
        self._there.pop(worker, None)
        self.hang_up(worker)

    # -- what tokens hold ----------------------------------------------------------------------------------

    def room(self, caller: Caller) -> int | None:
        """Tasks that the workers of a token may still get, as far as this node knows; None: no limit."""
        if caller.concurrency is None or caller.token_id is None:
            return None
        at, holding = asyncio.get_running_loop().time(), self._holdings.get(caller.token_id, {})
        for lease in [lease for lease, until in holding.items() if until <= at]:
            del holding[lease]
        return max(0, caller.concurrency - len(holding))

    def fill(self, caller: Caller, given: Sequence[Assignment], now: datetime) -> int:
        """Hold as much as there is room for, and say how much that is.

        Several polls of one token may have waited for the same room: where it is full now, they all end.
        """
        room = self.room(caller)
        if room is None:
            return len(given)
        self.hold(caller, [(each.lease, each.expires) for each in given[:room]], now)
        if len(given) >= room:
            for worker in [worker for worker in self._polls if worker.startswith(f"{caller.token_id}/")]:
                self.hang_up(worker)
        return min(room, len(given))

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


class WorkerCall(Struct, frozen=True):
    """A call of a worker: who it comes from, and what it reaches."""

    registry: WorkerRegistry
    behind: Behind
    caller: Caller
