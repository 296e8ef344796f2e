"""A trigger and what it is given: the workflow, a durable state, and ways to start runs and fire events."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import msgspec
from msgspec import Struct, field

from penstock.flow.compile.compile import Flow
from penstock.flow.model.definition import External, Source
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import Outside
from penstock.objects.stores import Stores
from penstock.runtime.commands.commands import Commands
from penstock.runtime.commands.verbs import LIVE
from penstock.runtime.errors import IdempotencyMismatch
from penstock.runtime.node.background_tasks import is_set_within
from penstock.runtime.node.node import Node
from penstock.sources.errors import SourceStopped
from penstock.sources.triggers.lease import Lost, NodeLease, TriggerLease, trigger_name
from penstock.store.rows.rows import Filter, RunRow

MAX_SLEEP = timedelta(hours=1)
"""How long a reader sleeps at most before it looks at the clock again."""


BACKFILLS = "/feeds/backfills/"
"""What backfills that somebody asked for are kept under, by workflow."""

BACKFILL = "penstock.backfill"
"""The label of runs that a backfill made."""

CLOCK_SAMPLES = 5
"""How often the store's time is read to measure its difference to the local clock."""

CAPACITY_POLL_INTERVAL = 1.0
"""Seconds between two checks whether a run has ended."""


class Means(Struct, frozen=True, kw_only=True):
    """What readers may use besides the database: stores, addresses by name, secrets by name (None: there is none)."""

    stores: Stores = field(default_factory=Stores)
    buses: Mapping[str, str] = {}
    secret: Callable[[str], Awaitable[str | None]] | None = None


class TriggerTarget(Struct, frozen=True, kw_only=True):
    """Something to feed: the source of a workflow's newest version, or the topic of one of its outside events."""

    flow: Flow
    kind: str
    source: Source | None = None
    external: External | None = None
    by_hand: bool = False  # somebody asked for it: also where the source is stopped

    @property
    def name(self) -> str:
        if self.by_hand:
            return trigger_name(self.flow.name, kind=self.kind)
        return trigger_name(self.flow.name, None if self.external is None else self.external.name)


class Start(Struct, frozen=True, kw_only=True):
    """A run to be made once: `key` is unique in the workflow, among those of its source; None: no repeat is known."""

    key: str | None
    subject: str | None = None
    input: Any = None
    tags: Mapping[str, Any] | None = None
    labels: Mapping[str, str] | None = None
    kind: str | None = None

    async def begin(self, commands: Commands, workflow: str, kind: str) -> tuple[RunId, bool]:
        """The run, and whether it existed before. Raises what `Commands.start_once` raises."""
        return await commands.start_once(
            workflow,
            subject=self.subject,
            input=self.input,
            tags=self.tags,
            labels=self.labels,
            idempotency_key=None if self.key is None else f"{self.kind or kind}:{self.key}",
        )


class Trigger:
    """What one reader works on. Whatever it starts is durable and exists once, however often it asks."""

    def __init__(
        self, target: TriggerTarget, node: Node, lease: TriggerLease, node_lease: NodeLease, means: Means
    ) -> None:
        self.target, self.node, self.means = target, node, means
        self.workflow = target.flow.name
        self._lease, self._node_lease = lease, node_lease
        self.stopping = asyncio.Event()
        self.finishing = False  # what came before the source was stopped may still be started
        self.started = 0

    @property
    def flow(self) -> Flow:
        """The newest version."""
        return self.target.flow

    @property
    def source(self) -> Source | None:
        return self.target.source

    @property
    def external(self) -> External | None:
        return self.target.external

    @property
    def state(self) -> Any:
        """The JSON that was saved last, by this reader or one before it; None: nothing."""
        return self._lease.record.state

    def now(self) -> datetime:
        """The store's time."""
        return self.node.clock.now()

    async def source_times(self) -> tuple[datetime | None, datetime | None]:
        """When the source was started last, and when it was stopped last; None: never, or nobody knows."""
        found = await self.node.store.workflows(self.workflow)
        return (found[0].started_at, found[0].stopped_at) if found else (None, None)

    async def by_our_clock(self, at: datetime | None) -> tuple[datetime, datetime]:
        """When the store's clock said so, by that of this machine: not before, and not after; now where it is None."""
        if at is None:
            return datetime.now(UTC), datetime.now(UTC)
        best: tuple[timedelta, datetime] | None = None
        for _ in range(CLOCK_SAMPLES):
            before = datetime.now(UTC)
            there = await self.node.store.now()
            round_trip = datetime.now(UTC) - before
            if best is None or round_trip < best[0]:  # the answer that came soonest is the most exact
                best = round_trip, before - (there - at)
        assert best is not None
        return best[1], best[1] + best[0]

    @property
    def was_stopped(self) -> bool:
        """Whether the source was stopped since its state was saved: what came meanwhile is not to start anything."""
        return self._lease.record.stopped

    async def save(self, state: Any, *, error: str | None = None) -> None:
        """Store the state, and the error, if any; the next holder continues from it. Raises Lost."""
        self._validate_lease()
        at = None if error is None else self.now()
        failures = 0 if error is None else self._lease.record.failures
        kept = msgspec.to_builtins(state)
        await self._lease.keep(state=kept, error=error, error_at=at, failures=failures, stopped=False)

    async def start(self, one: Start) -> tuple[RunId, bool]:
        """Start a run of the version that is newest now, durably; its id, and whether the key had made it before.

        A key is one of the kind of source, or of another `kind` in whose name the run is made.
        Where the workflow has a `max_running`, waits until fewer of its runs are under way. Raises Lost, SourceStopped
        (nothing was started: leave the event where it is), and what a start raises.
        """
        await self.ready()
        return await self._begin(one)

    async def ready(self) -> None:
        """Wait until runs may be started. Raises Lost, SourceStopped."""
        self._validate_lease()
        flow, state = await self.node.flows.newest(self.workflow)
        if not state.started and not self.target.by_hand and not self.finishing:
            raise SourceStopped(self.workflow)
        if flow.definition.max_running is not None and not await self.room():
            raise SourceStopped(self.workflow)

    async def _begin(self, one: Start) -> tuple[RunId, bool]:
        try:
            run, duplicate = await one.begin(self.node.commands, self.workflow, self.target.kind)
        except IdempotencyMismatch as error:  # the key counts: the first telling of an event is the one
            return RunId(error.run), True
        self.started += not duplicate
        await self.well()
        return run, duplicate

    async def start_many(
        self, starts: Sequence[Start], *, ready: bool = False
    ) -> list[tuple[RunId, bool] | Exception]:
        """The same for many at once, in few transactions; an error for one that fails. Raises Lost, SourceStopped.

        `ready`: the caller has awaited `ready()` since they came.
        """
        if self.flow.definition.max_running is not None:  # one by one: else all would find the same room
            done = [await _caught(self.start(one)) for one in starts]
        else:
            if not ready:  # once, before all: whoever asks the store for himself may be overtaken by the next
                await self.ready()
            done = await asyncio.gather(*map(self._begin, starts), return_exceptions=True)
        for each in done:
            if isinstance(each, Lost | SourceStopped) or (
                isinstance(each, BaseException) and not isinstance(each, Exception)
            ):
                raise each
        return [each for each in done if isinstance(each, Exception | tuple)]

    async def room(self, timeout: float = math.inf) -> bool:
        """Wait until fewer runs are active than `max_running` allows; False if it must stop, or after the timeout."""
        flow, _ = await self.node.flows.newest(self.workflow)
        most, clock = flow.definition.max_running, asyncio.get_running_loop().time
        until = clock() + timeout
        while most is not None and len(await self.active_runs(most)) >= most:
            if clock() >= until or not await self.rest(CAPACITY_POLL_INTERVAL):
                return False
        return True

    async def emit(
        self,
        event: str,
        data: Any = None,
        *,
        key: Mapping[str, str],
        set: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Answer:
        """Fire an outside event into the run of this workflow that has the key; kept where none has it yet.

        Raises Lost, SourceStopped, OtherWorkflow, and what an event raises.
        """
        self._validate_lease()
        outside = Outside(
            event=event, data=data, set=None if set is None else dict(set), id=id, workflow=self.workflow
        )
        answer = await self.node.commands.emit_by_key(key, outside, f"{self.target.kind}/{self.workflow}")
        await self.well()
        return answer

    async def active_runs(self, limit: int, label: tuple[str, str] | None = None) -> list[RunRow]:
        """The active runs of the workflow, the oldest first, up to a limit; or those with a label."""
        filter = Filter(workflow=self.workflow, statuses=LIVE, label=label, sort="oldest", limit=limit)
        return await self.node.store.runs(filter)

    async def until(self, when: datetime) -> bool:
        """Wait until that time; False if the reader must stop."""
        while not self.stopping.is_set() and (left := when - self.now()) > timedelta(0):
            await is_set_within(self.stopping, min(left, MAX_SLEEP).total_seconds())
        return not self.stopping.is_set()

    async def rest(self, seconds: float) -> bool:
        """Wait this long; False if the reader must stop."""
        return await self.until(self.now() + timedelta(seconds=seconds))

    async def fail(self, error: BaseException) -> int:
        """Keep why it does not work, for people to see; how often it failed in a row. Raises Lost."""
        self._validate_lease()
        record = self._lease.record
        redact = await self.node.dispatch.redaction()
        text = redact(str(error) or type(error).__name__)
        await self._lease.keep(error=text[:1000], error_at=self.now(), failures=record.failures + 1)
        return record.failures + 1

    async def well(self) -> None:
        """Clear the error. Raises Lost."""
        if self._lease.record.error is not None:
            await self._lease.keep(error=None, error_at=None, failures=0)

    def _validate_lease(self) -> None:
        if not self._node_lease.alive:
            raise Lost(self.target.name)


class SourceReader(Protocol):
    """What takes something in from outside, for one workflow."""

    async def run(self, trigger: Trigger) -> None:
        """Feed until `feed.stopping`; then finish what is in hand and return. To return earlier: there is no more.

        Whatever it raises is shown, and it is begun again a little later. It may be cancelled at any time.
        """


Factory = Callable[[TriggerTarget, Means], SourceReader | None]
"""Makes the reader of a source; None if it needs none, because others bring its events."""


async def _caught(start: Awaitable[tuple[RunId, bool]]) -> tuple[RunId, bool] | BaseException:
    try:
        return await start
    except Exception as error:
        return error
