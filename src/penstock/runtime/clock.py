"""Clocks: where time enters. The virtual one jumps from timer to timer, so that days pass in microseconds."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Protocol


class Clock(Protocol):
    """The time, and calls at a later time."""

    def now(self) -> datetime: ...

    def at(self, when: datetime, call: Callable[[], None]) -> None:
        """Call `call` once, at `when` or as soon as possible after it."""
        ...


class VirtualClock:
    """Time that stands still until `advance`: for tests, simulations and `--fast`."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._timers: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = count()

    def now(self) -> datetime:
        return self._now

    def at(self, when: datetime, call: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (when, next(self._order), call))

    def next(self) -> datetime | None:
        """When the next timer is due."""
        return self._timers[0][0] if self._timers else None

    def step(self) -> bool:
        """Jump to the next timer and ring it; False where there is none."""
        if not self._timers:
            return False
        when, _, call = heapq.heappop(self._timers)
        self._now = max(self._now, when)
        call()
        return True

    def advance(self, by: timedelta) -> None:
        """Let time pass, ringing what falls due on the way."""
        until = self._now + by
        while self._timers and self._timers[0][0] <= until:
            self.step()
        self._now = until


class LoopClock:
    """Real time, with timers on the running event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return datetime.now(UTC)

    def at(self, when: datetime, call: Callable[[], None]) -> None:
        # A loop's clock may run a touch ahead of the wall clock: a timer must never ring early.
        def ring() -> None:
            left = (when - self.now()).total_seconds()
            if left > 0:
                self._loop.call_later(left, ring)
            else:
                call()

        self._loop.call_later(max(0.0, (when - self.now()).total_seconds()), ring)


class PacedClock(VirtualClock):
    """Real time for a caller that waits: each step sleeps until its timer is due."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def step(self) -> bool:
        due = self.next()
        if due is not None:
            time.sleep(max(0.0, (due - self.now()).total_seconds()))
        return super().step()
