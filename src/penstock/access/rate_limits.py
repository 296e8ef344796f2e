"""Rate limits: buckets that fill at a steady rate. Time is an argument, in seconds of any clock."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

from msgspec import Struct

from penstock.access.caller import Caller
from penstock.access.errors import TooManyRequests

MAX_KEYS = 100_000
"""Buckets that are remembered: who floods with ever new names must not fill the memory."""
MAX_KEY = 128
"""Characters up to which a key is kept as it is; a longer one, of which anybody can send many, as its digest."""


class Rate(Struct, frozen=True):
    """So many a second on average, and at most `burst` at once; `said` is how people put it."""

    per_second: float
    burst: float
    said: str


TOKEN_RATE = Rate(200, 200, "200 a second for each token")
HOOK_RATE = Rate(2000, 2000, "2,000 a second for each hook")
LOGIN_RATE = Rate(5 / 60, 5, "5 sign-ins a minute")


def rate_of(caller: Caller) -> Rate | None:
    """The limit of a caller; None: whoever is on this machine, and workers, may ask as fast as they can."""
    return None if caller.local or caller.role == "worker" else TOKEN_RATE


class Limiter:
    """A bucket for each key, all of one rate."""

    def __init__(self, rate: Rate, max_keys: int = MAX_KEYS) -> None:
        self.rate, self._max_keys = rate, max_keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key → what is left, as of when

    def take(self, key: str, now: float, count: float = 1) -> float:
        """Take from the key's bucket. 0.0: granted; otherwise nothing was taken, and so many seconds are to wait."""
        if len(key) > MAX_KEY:
            key = blake2b(key.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        left, at = self._buckets.get(key, (self.rate.burst, now))
        left = min(self.rate.burst, left + max(0.0, now - at) * self.rate.per_second)
        granted = left >= count
        self._buckets[key] = (left - count if granted else left, max(now, at))
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._max_keys:
            self._buckets.popitem(last=False)
        return 0.0 if granted else (min(count, self.rate.burst) - left) / self.rate.per_second

    def check(self, key: str, now: float) -> None:
        """Raises TooManyRequests where the bucket is empty."""
        wait = self.take(key, now)
        if wait > 0:
            raise TooManyRequests(f"at most {self.rate.said}", wait)
