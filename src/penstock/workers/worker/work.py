"""One attempt that a worker has: its task, its lease, and when to renew or stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run_input import Outcome
from penstock.store.rows.rows import Heartbeat, Lease
from penstock.workers.context import Context
from penstock.workers.task import Task

SHARE = 3
"""A lease is renewed when a third of the time it has left is over: two renewals may fail."""

NEVER = float("inf")

UNWANTED = "is no longer wanted"
"""Why work is stopped that was cancelled: nothing went wrong."""
GIVEN_BACK = "is given back: it goes on elsewhere, or after a restart"
"""Why work is stopped that knows how to go on: nothing went wrong either."""


class TaskRunner(Protocol):
    """Does one piece of work at a time, in a thread of its own."""

    idle: bool  # it must be made ready before it takes work

    def do(self, work: Work) -> Outcome:
        """Run the task to its end and answer its outcome; never raises."""

    def ready(self) -> bool:
        """Make it ready, however long it takes; False: it is closed."""

    def cancel(self, work: Work) -> None:
        """The work is no longer wanted. Called from another thread."""

    def close(self) -> None: ...


class Work(Struct, eq=False):
    """One attempt under way. Times are those of the loop, so that a clock that is set does not matter."""

    lease: Lease
    attempt: Attempt
    task: Task
    context: Context | None = None
    future: asyncio.Future[None] | None = None
    hand: TaskRunner | None = None
    deadline: datetime | None = None
    begun: bool = False
    void: bool = False
    given_up: bool = False
    said: bytes | None = None  # the progress that was told last
    heartbeat_at: float = NEVER
    lost_at: float = NEVER
    over_at: float = NEVER

    def renew(self, expires: datetime, deadline: datetime | None, now: datetime, at: float) -> float:
        """Take over what the store says, heard at loop time `at`; answers when something is to be done.

        The store's clock and ours may differ: renewals come early rather than late, and the task is
        stopped late rather than early; the answer to a renewal stops it in time anyway.
        """
        limits = self.attempt.timeouts
        left = (expires - now).total_seconds()
        length = left if limits.heartbeat is None else limits.heartbeat.total_seconds()
        self.lost_at = at + max(left, length)
        self.heartbeat_at = at + (min(left, length) if left > 0 else length) / SHARE
        if deadline is None:
            return self.heartbeat_at
        if self.deadline is None:
            run_for = 0.0 if limits.start_to_close is None else limits.start_to_close.total_seconds()
            self.over_at = at + max((deadline - now).total_seconds(), run_for)
        elif deadline != self.deadline:
            self.over_at += (deadline - self.deadline).total_seconds()
        self.deadline = deadline
        return min(self.heartbeat_at, self.over_at)

    def begin_like(self, other: Work) -> None:
        """The same times as those of another that was begun at this moment under the same terms."""
        self.heartbeat_at, self.lost_at, self.over_at = other.heartbeat_at, other.lost_at, other.over_at
        self.deadline = other.deadline

    def heartbeat(self, encode: Callable[[Any], bytes | None]) -> Heartbeat:
        """A sign of life, with the progress where it is new."""
        progress = None if self.context is None else self.context.progress
        if progress is None or (said := encode(progress)) == self.said:
            return Heartbeat(self.lease)
        self.said = said
        return Heartbeat(self.lease, said)
