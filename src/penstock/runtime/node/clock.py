"""Clocks: where time enters. The virtual one jumps from timer to timer, so that days pass in microseconds."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Protocol

MAX_WAIT = 86_400.0
"""Seconds that a loop is asked to wait at a time: some cannot wait for weeks."""


class Alarm(Protocol):
    """A call to come."""

    def cancel(self) -> None:
        """It does not come, and nothing of it is kept. One that came is not undone."""
        ...


class Clock(Protocol):
    """The time, and calls at a later time."""

    def now(self) -> datetime: ...

    def at(self, when: datetime, call: Callable[[], None]) -> Alarm:
        """Call `call` once, at `when` or as soon as possible after it; never from inside `at`."""
        ...


class _VirtualAlarm:
    __slots__ = ("call", "clock")

    def __init__(self, clock: VirtualClock, call: Callable[[], None]) -> None:
        self.clock = clock
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        if self.call is not None:
            self.call = None
            self.clock.drop()


class VirtualClock:
    """Time that stands still until `advance`: for tests, simulations and `--fast`."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._timers: list[tuple[datetime, int, _VirtualAlarm]] = []
        self._void = 0
        self._order = count()

    def __len__(self) -> int:
        """How many timers are set."""
        return len(self._timers) - self._void

    def now(self) -> datetime:
        return self._now

    def at(self, when: datetime, call: Callable[[], None]) -> Alarm:
        alarm = _VirtualAlarm(self, call)
        heapq.heappush(self._timers, (when, next(self._order), alarm))
        return alarm

    def drop(self) -> None:
        """One timer more is void; when most are, they are swept out, so that none is kept for its days."""
        self._void += 1
        if self._void > 16 and 2 * self._void > len(self._timers):
            self._timers = [timer for timer in self._timers if timer[2].call is not None]
            heapq.heapify(self._timers)
            self._void = 0

    def next(self) -> datetime | None:
        """When the next timer is due."""
        while self._timers and self._timers[0][2].call is None:
            heapq.heappop(self._timers)
            self._void -= 1
        return self._timers[0][0] if self._timers else None

    def step(self) -> bool:
        """Jump to the next timer and ring it; False where there is none."""
        if self.next() is None:
            return False
        when, _, alarm = heapq.heappop(self._timers)
        self._now = max(self._now, when)
        call, alarm.call = alarm.call, None
        assert call is not None
        call()
        return True

    def advance(self, by: timedelta) -> None:
        """Let time pass, ringing what falls due on the way."""
        until = self._now + by
        while (due := self.next()) is not None and due <= until:
            self.step()
        self._now = until


class _LoopAlarm:
    """A timer of a loop. A loop's clock may run a touch ahead of the wall clock: it must never ring early."""

    __slots__ = ("call", "clock", "handle", "when")

    def __init__(self, clock: LoopClock, when: datetime, call: Callable[[], None]) -> None:
        self.clock, self.when, self.call = clock, when, call
        self.handle = clock.later(when, self.fire)

    def fire(self) -> None:
        if self.clock.now() < self.when:
            self.handle = self.clock.later(self.when, self.fire)
        else:
            self.call()

    def cancel(self) -> None:
        self.handle.cancel()


class LoopClock:
    """Real time, with timers on the running event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return datetime.now(UTC)

    def at(self, when: datetime, call: Callable[[], None]) -> Alarm:
        return _LoopAlarm(self, when, call)

    def later(self, when: datetime, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Call at about that time."""
        left = (when - self.now()).total_seconds()
        return self._loop.call_later(min(max(0.0, left), MAX_WAIT), call)


class PacedClock(VirtualClock):
    """Real time for a caller that waits: each step sleeps until its timer is due."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def step(self) -> bool:
        due = self.next()
        if due is not None:
            time.sleep(max(0.0, (due - self.now()).total_seconds()))
        return super().step()


class StoreClock:
    """Continues from the store's time by this machine's monotonic clock; never backwards."""

    def __init__(self, store_time: datetime, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.asked = monotonic  # the moment in which the store is asked something, for `tell`
        self._store_time, self._at = store_time, monotonic()
        self._last = store_time

    def tell(self, now: datetime, asked: float) -> None:
        """The store says what time it was, some time between the question and its answer.

        An answer that is heard late, after a pause of this process, must not set the clock back.
        """
        at = self.asked()
        latest = now + timedelta(seconds=at - asked)
        guess = self._store_time + timedelta(seconds=at - self._at)
        self._store_time, self._at = min(max(guess, now), latest), at

    def now(self) -> datetime:
        now = self._store_time + timedelta(seconds=self.asked() - self._at)
        self._last = max(self._last, now)
        return self._last
