"""A decision about one run: what was decided, what is to be written of it, and who gets the work it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from msgspec import Struct

from penstock.flow.model.plan import Answer, Attempt, Plan
from penstock.flow.model.run import Pauser
from penstock.runtime.codec.snapshots import encode_header
from penstock.runtime.decisions.request import Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import WHOLE, Change, NewRun, NewTask, PendingEvent

HEARTBEAT = timedelta(seconds=60)


class Reservation(Protocol):
    """Where a worker of this process waits for work."""

    @property
    def worker(self) -> str: ...


Reserve = Callable[[Attempt], Reservation | None]
"""A desk that will take the attempt as soon as it is durable."""


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
    bare: bool = False  # nothing came with what happened, and the fast path decided: equal runs may repeat it
    first: Decision | None = None  # that about an equal run, which this one repeats
    state: bytes | None = None  # what `CachedRun.state` is from then on


def new_task(attempt: Attempt, slot: Reservation | None, held: bool) -> NewTask:
    """The row of an attempt; with a desk it is leased at once."""
    times = attempt.timeouts
    return NewTask(
        firing=attempt.firing,
        index=WHOLE if attempt.index is None else attempt.index,
        attempt=attempt.attempt,
        task=attempt.task,
        task_list=attempt.task_list,
        priority=attempt.priority,
        schedule_to_start=times.schedule_to_start,
        start_to_close=times.start_to_close,
        schedule_to_close=times.schedule_to_close,
        heartbeat=times.heartbeat or HEARTBEAT,
        worker=None if slot is None else slot.worker,
        held=held,
        step=attempt.step,
    )


def new_run_of(live: CachedRun, request: Request, now: datetime) -> NewRun | None:
    """The columns of a run that is made."""
    if request.new is None:
        return None
    header = live.snapshot.run
    return NewRun(
        workflow=header.workflow,
        version=header.version,
        subject=header.subject,
        parent=header.parent,
        labels=msgspec.json.encode(header.labels).decode(),
        started_at=now,
        header=encode_header(header, live.pack),
        start_key=request.start_key,
        paused=wider(live.snapshot.paused),
        latest=request.latest,
    )


def wider(paused: tuple[Pauser, ...]) -> tuple[bool, bool]:
    return "workflow" in paused, "installation" in paused
