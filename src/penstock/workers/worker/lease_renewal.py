"""Renews leases, all in one call, and stops work that is over or no longer wanted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from penstock.flow.model.retry_policy import Backoff, Timeouts
from penstock.flow.values.payload import NotJson, TooLarge, pure
from penstock.runtime.dispatch.gate import Gate
from penstock.store.rows.rows import Renewal
from penstock.workers.worker.work import NEVER, UNWANTED, Work

LOG = logging.getLogger("penstock.worker")
AGAIN = Backoff(initial=timedelta(seconds=0.05), max=timedelta(seconds=2), jitter=0.3)

EARLIEST = 0.01
"""Seconds between two renewals at least, however short the leases are."""

ANSWER = 10.0
"""Seconds that the gate has to answer a renewal."""

PROGRESS_DELAY = 1.0
"""Seconds after which progress is sent, where the renewal would come later."""


class Leases:
    """Renews the leases of all that is held, when a third of the shortest time left is over."""

    def __init__(
        self,
        gate: Gate,
        now: Callable[[], datetime],
        seed: str,
        held: Callable[[], list[Work]],
        stop: Callable[[Work, str], None],
    ) -> None:
        self._gate, self._now, self._seed, self._held, self._stop = gate, now, seed, held, stop
        self._loop = asyncio.get_running_loop()
        self._next = self._say_at = NEVER
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._failures = 0
        self._term: tuple[datetime, datetime | None, datetime, Timeouts] | None = None
        self._like: Work | None = None

    def begin(self, work: Work, expires: datetime, deadline: datetime | None, now: datetime) -> None:
        """Watch over a lease from now on; most that are begun together are like the one before."""
        term, like = (expires, deadline, now, work.attempt.timeouts), self._like
        if like is not None and self._term == term:
            work.begin_like(like)
        else:
            self._term, self._like = term, work
            self._by(work.renew(expires, deadline, now, self._loop.time()))

    def on_progress(self) -> None:
        """A task said how far it is; from the loop."""
        if self._say_at == NEVER:
            self._say_at = self._loop.time() + PROGRESS_DELAY
            self._by(self._say_at)

    def _by(self, when: float) -> None:
        """Look after the leases at `when` at the latest: one timer for all of them."""
        if when < self._next:
            self._next = when
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        """Stop what is over, see whether a renewal is due, and when to look again.

        Not after the renewal: a gate that does not answer must not keep us from seeing that leases are over.
        """
        at, self._next = self._loop.time(), NEVER
        again = self._say_at if self._say_at > at else NEVER
        for work in self._held():
            if work.over_at <= at:
                self._stop(work, "is over its time")
            elif work.lost_at <= at:
                self._stop(work, "lost its lease: it could not be renewed in time")
            else:
                again = min(
                    again, work.over_at, work.lost_at, work.heartbeat_at if work.heartbeat_at > at else NEVER
                )
        self._by(again)
        if self._is_due(at):
            self._due.set()

    def _is_due(self, at: float) -> bool:
        return self._say_at <= at or any(work.heartbeat_at <= at for work in self._held())

    async def keep(self) -> None:
        """Wait until a renewal is due and renew all; does not raise where the gate fails."""
        await self._due.wait()
        self._due.clear()
        asked = self._loop.time()
        if not self._is_due(asked):
            return
        self._say_at = NEVER
        works = self._held()
        heartbeats = [work.heartbeat(_encoded) for work in works]
        if not works:
            return
        try:
            async with asyncio.timeout(ANSWER):
                renewals = await self._gate.heartbeat(heartbeats)
            self._renewed(list(zip(works, renewals, strict=True)), asked)
            self._failures = 0
        except Exception as error:
            self._failures += 1
            LOG.warning("%d leases cannot be renewed now: %s", len(works), str(error) or "no answer")
            again = self._loop.time() + AGAIN.delay(self._failures, self._seed).total_seconds()
            for work in works:
                work.said = None  # whether its progress came through is not known
                work.heartbeat_at = again
            self._by(again)

    def _renewed(self, answers: list[tuple[Work, Renewal]], asked: float) -> None:
        now, soon = self._now(), self._loop.time() + EARLIEST
        for work, renewal in answers:
            if renewal.expires is None:
                self._stop(work, UNWANTED)
                work.heartbeat_at = NEVER
            else:
                work.renew(renewal.expires, renewal.deadline, now, asked)
                work.heartbeat_at = max(work.heartbeat_at, soon)
                self._by(min(work.heartbeat_at, work.over_at))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _encoded(progress: Any) -> bytes | None:
    """Progress as JSON; what is not JSON is left out: it must not cost the lease."""
    try:
        return _encode(pure(progress))
    except (NotJson, TooLarge) as error:
        LOG.warning("progress that is no small JSON is not shown: %s", error)
        return None


_encode = msgspec.json.Encoder().encode
