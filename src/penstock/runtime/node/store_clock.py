"""The store's time as a node knows it: node clocks do not matter, however wrong they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta


class StoreClock:
    """Goes on from what the store told, by this machine's monotonic clock; never back."""

    def __init__(self, told: datetime, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._told, self._at = told, monotonic()
        self._last = told

    def asked(self) -> float:
        """The moment in which the store is asked something, for `tell`."""
        return self._monotonic()

    def tell(self, now: datetime, asked: float) -> None:
        """The store says what time it was, some time between the question and its answer.

        An answer that is heard late, after a pause of this process, must not set the clock back.
        """
        at = self._monotonic()
        latest = now + timedelta(seconds=at - asked)
        guess = self._told + timedelta(seconds=at - self._at)
        self._told, self._at = min(max(guess, now), latest), at

    def now(self) -> datetime:
        now = self._told + timedelta(seconds=self._monotonic() - self._at)
        self._last = max(self._last, now)
        return self._last
