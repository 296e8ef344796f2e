"""A decision about one run: what was decided, what is to be written of it, and who gets the work it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct

from penstock.flow.model.plan import Answer, Attempt, Plan
from penstock.runtime.decisions.request import Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import Change, PendingEvent

HEARTBEAT = timedelta(seconds=60)
"""How long a lease lasts where its step does not say."""


class Reservation(Protocol):
    """Where a worker of this process waits for work."""

    @property
    def worker(self) -> str: ...


Reserve = Callable[[Attempt], Reservation | None]
"""A slot that will take the attempt as soon as it is durable."""


class ReservationMaker(Protocol):
    """Where work is promised to workers before it is durable."""

    def reserve(self, attempt: Attempt) -> Reservation | None: ...

    def free(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """What was promised came to nothing."""
        ...


Reserved = list[tuple[Attempt, Reservation]]
"""Work, and who is to get it once it is durable."""


class Decision(Struct, eq=False):
    """What was decided about one run, and what is to be written."""

    live: CachedRun
    requests: Sequence[Request]
    answers: list[Answer]
    plan: Plan
    now: datetime
    parked: tuple[PendingEvent, ...] = ()  # events that did not fit the workflow
    change: Change | None = None  # None: nothing is to be written
    slots: Reserved = []
    alone: bool = False  # about one request, which uses up no more than a lease and concerns only its caller
    bare: bool = False  # nothing came with what happened, and the fast path decided: equal runs may repeat it
    first: Decision | None = None  # that about an equal run, which this one repeats
    state: bytes | None = None  # what `CachedRun.state` is from then on
