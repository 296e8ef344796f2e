"""Something that happened to a run and waits to be decided about, with what its decision uses up; the queue of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container

from msgspec import Struct

from penstock.flow.model.plan import Answer
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Outside, Retried, RunInput, Skipped
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Post, Seen
from penstock.store.rows.rows import Lease

OnResult = Callable[["Request", Answer | None, BaseException | None], None]
"""How a request ended: the answer, or the error. Called once."""


class Request(Struct, eq=False):
    """One occurrence on its way. `run` is the id; `new` a run that does not exist yet."""

    run: str
    occurrence: RunInput
    told: OnResult | None = None
    lease: Lease | None = None  # of the attempt that this ends
    rung: int | None = None  # the timer that this is
    read: int | None = None  # the message that this is
    seen: Seen | None = None
    new: Snapshot | None = None
    start_key: tuple[str, bytes] | None = None
    latest: int | None = None  # of `new`: it must still be the newest version of its workflow
    posts: tuple[Post, ...] = ()  # of `new`: what others are told when the run is there
    check: bool = False  # an event that nobody has held against the workflow yet
    overdue: bool = False  # the lease was found to have outlived a limit
    audit: AuditRow | None = None  # who does it, where that is to be known later
    alone: bool = False  # decided by itself, so that its conflict is its own
    fresh: bool = False  # decided on what the store has now, not on what is remembered
    tries: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether its decision uses up nothing beside a lease, and nobody is told of it but who asked."""
        return (
            self.rung is None
            and self.read is None
            and self.seen is None
            and self.audit is None
            and not self.posts
            and not isinstance(self.occurrence, Retried | Skipped)
        )

    @property
    def from_store(self) -> bool:
        """Whether it will be found again in the store if it is not decided now."""
        return self.rung is not None or self.read is not None or self.overdue

    def tell(self, answer: Answer | None, error: BaseException | None = None) -> None:
        told, self.told = self.told, None
        if told is not None:
            told(self, answer, error)


BATCH = 512


class RequestQueue:
    """Requests by run, each run's in the order in which they came. `wake` is set while there may be some to take."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.waiting: dict[str, list[Request]] = {}
        self._closed: BaseException | None = None

    def submit(self, request: Request) -> None:
        """Let something happen to a run; `request.told` is called when it is durable, or why it is not."""
        if self._closed is not None:
            request.tell(None, self._closed)
            return
        self.waiting.setdefault(request.run, []).append(request)
        self.wake.set()

    def take(self, busy: Container[str]) -> dict[str, list[Request]]:
        """One decision for each run that is not busy."""
        batch: dict[str, list[Request]] = {}
        for run in self.waiting:
            if run not in busy:
                batch[run] = self.waiting[run]
                if len(batch) >= BATCH:
                    self.wake.set()  # there may be more
                    break
        for run in batch:
            requests = self.waiting.pop(run)
            if len(requests) > 1:
                batch[run], rest = _one_decision(requests)
                if rest:
                    self.waiting[run] = rest
        return batch

    def close(self, error: BaseException) -> None:
        """Nothing more is decided: tell whoever waits, and whoever still comes."""
        self._closed = error
        waiting, self.waiting = self.waiting, {}
        for requests in waiting.values():
            for request in requests:
                request.tell(None, error)


def _one_decision(requests: list[Request]) -> tuple[list[Request], list[Request]]:
    """As many as may be decided at once: one that had a conflict goes alone, so does one id of an event."""
    ids = 0
    for number, request in enumerate(requests):
        ids += isinstance(request.occurrence, Outside) and request.seen is not None
        if ids > 1 or (request.alone and number) or (number and requests[0].alone):
            return requests[:number], requests[number:]
    return requests, []
