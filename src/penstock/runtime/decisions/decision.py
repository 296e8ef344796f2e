"""A request to a run, the decision about it, what it writes, and the slots reserved for its tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Answer, Attempt, Plan
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import RunInput
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Change, EventId, PendingEvent, Post
from penstock.store.rows.rows import Lease

DEFAULT_HEARTBEAT = timedelta(seconds=60)
"""How long a lease lasts if its step has no time-out."""


class Reservation(Protocol):
    """Where a worker of this process waits for work."""

    @property
    def worker(self) -> str: ...


Reserve = Callable[[Attempt], Reservation | None]
"""A slot that takes the attempt when it is durable."""


class ReservationMaker(Protocol):
    """Where work is promised to workers before it is durable."""

    def reserve(self, attempt: Attempt) -> Reservation | None: ...

    def free(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """What was promised came to nothing."""
        ...


Reserved = list[tuple[Attempt, Reservation]]
"""Attempts, and the slots that take them when they are durable."""


OnResult = Callable[["Request", Answer | None, BaseException | None], None]
"""How a request ended: the answer, or the error. Called once."""


class Request(Struct, eq=False):
    """One input for a run. `run` is its id; `new` is set if the run does not exist yet."""

    run: str
    input: RunInput
    on_result: OnResult | None = None
    lease: Lease | None = None  # of the attempt that this ends
    rung: int | None = None  # the timer that this is
    read: int | None = None  # the message that this is
    seen: EventId | None = None
    new: Snapshot | None = None
    flow: Flow | None = None  # of `new`
    start_key: tuple[str, bytes] | None = None
    latest: int | None = None  # of `new`: it must still be the newest version of its workflow
    posts: tuple[Post, ...] = ()  # of `new`: messages to others when the run exists
    check: bool = False  # an event that nobody has held against the workflow yet
    overdue: bool = False  # the lease was found to have outlived a limit
    audit: AuditRow | None = None  # the caller, if it must be on record
    isolated: bool = False  # decided without others, so a conflict is its own
    fresh: bool = False  # decided on what the store has now, not on what is remembered
    tries: int = 0

    @property
    def from_store(self) -> bool:
        """Whether it will be found again in the store if it is not decided now."""
        return self.rung is not None or self.read is not None or self.overdue

    def tell(self, answer: Answer | None, error: BaseException | None = None) -> None:
        told, self.on_result = self.on_result, None
        if told is not None:
            told(self, answer, error)


class Decision(Struct, eq=False):
    """What was decided about one run, and what must be written."""

    live: CachedRun
    requests: Sequence[Request]
    answers: list[Answer]
    plan: Plan
    now: datetime
    parked: tuple[PendingEvent, ...] = ()  # events that did not fit the workflow
    change: Change | None = None  # None: nothing to write
    slots: Reserved = []
    lease_only: bool = (
        False  # about one request, which uses up no more than a lease and concerns only its caller
    )
    bare: bool = False  # nothing came with what happened, and the fast path decided: equal runs may repeat it
    first: Decision | None = None  # that about an equal run, which this one repeats
    state: bytes | None = None  # what `CachedRun.state` is from then on
