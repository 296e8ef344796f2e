"""The store's time as a node knows it: node clocks do not matter, however wrong they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta


class StoreClock:
    """Goes on from the last time that the store told, by this machine's monotonic clock; never back."""

    def __init__(self, told: datetime, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._told, self._at = told, monotonic()
        self._last = told

    def tell(self, now: datetime) -> None:
        """The store says what time it is."""
        self._told, self._at = now, self._monotonic()

    def now(self) -> datetime:
        now = self._told + timedelta(seconds=self._monotonic() - self._at)
        self._last = max(self._last, now)
        return self._last
