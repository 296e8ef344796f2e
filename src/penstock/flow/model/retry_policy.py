"""Who tries again, and when: two budgets, one for failures and one for time-outs."""

from __future__ import annotations

from datetime import timedelta
from zlib import crc32

from msgspec import Struct

SECOND = timedelta(seconds=1)
MAX_INTERVAL = timedelta(days=36500)


class Backoff(Struct, frozen=True):
    """How long to wait after the i-th failure."""

    initial: timedelta = SECOND
    factor: float = 2.0
    max: timedelta = timedelta(minutes=5)
    jitter: float = 0.1

    def delay(self, failures: int, seed: str) -> timedelta:
        """The wait after the `failures`-th failure; `seed` decides the jitter, so that it can be replayed."""
        # In float seconds: a timedelta would overflow before `min` could cap it, and so may a power.
        first, most = self.initial.total_seconds(), self.max.total_seconds()
        try:
            capped = min(first * self.factor ** min(failures - 1, 64), most)
        except OverflowError:
            capped = most if first else 0.0
        swing = self.jitter * (crc32(f"{seed}/{failures}".encode()) / 0xFFFFFFFF * 2 - 1)
        return timedelta(seconds=max(0.0, capped * (1 + swing)))


class Timeouts(Struct, frozen=True):
    """The four time-outs of one attempt; None: none."""

    schedule_to_start: timedelta | None = None
    start_to_close: timedelta | None = None
    schedule_to_close: timedelta | None = None
    heartbeat: timedelta | None = timedelta(seconds=60)

    def times(self, multiplier: float) -> Timeouts:
        """All of them multiplied, for a later try."""
        if multiplier == 1:
            return self
        return Timeouts(
            *(None if value is None else _multiplied(value, multiplier) for value in self.values())
        )

    def values(self) -> tuple[timedelta | None, ...]:
        return (self.schedule_to_start, self.start_to_close, self.schedule_to_close, self.heartbeat)


def _multiplied(value: timedelta, multiplier: float) -> timedelta:
    # In float seconds: a timedelta would overflow before `min` could cap it.
    return timedelta(seconds=min(value.total_seconds() * multiplier, MAX_INTERVAL.total_seconds()))


class RetryPolicy(Struct, frozen=True):
    """The two budgets of a step."""

    retries: int = 0
    timeout_retries: tuple[float, ...] = (1, 1, 1)
    backoff: Backoff = Backoff()
    resumes: bool = False  # the task goes on where it was: an attempt that is lost costs none

    def after_failure(self, failures: int, seed: str, asked: timedelta | None = None) -> timedelta | None:
        """How long to wait after the `failures`-th failure; None: give up. `asked` is the task's own wish."""
        if failures > self.retries:
            return None
        if asked is not None:
            return min(max(asked, timedelta(0)), self.backoff.max)
        return self.backoff.delay(failures, seed)

    def after_timeout(self, timeouts: int) -> float | None:
        """The multiplier of the try after the `timeouts`-th time-out; None: give up."""
        return None if timeouts > len(self.timeout_retries) else self.timeout_retries[timeouts - 1]
