"""Loops that must not end: each is restarted when it fails, after a growing pause."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from penstock.store.errors import StoreUnavailable

MIN_DELAY, MAX_DELAY = 0.05, 5.0

log = logging.getLogger("penstock.supervisor")


class LoopHealth:
    """Whether a loop is alive: how often it failed, and why last."""

    __slots__ = ("failures", "last")

    def __init__(self) -> None:
        self.failures = 0
        self.last: str | None = None


async def keep_up(name: str, loop: Callable[[], Awaitable[None]], pulse: LoopHealth) -> None:
    """Run a loop without end; an outage of the database for an hour must not end it."""
    wait = MIN_DELAY
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await loop()
        except Exception as error:
            if asyncio.get_running_loop().time() - began > MAX_DELAY:
                wait = MIN_DELAY
            pulse.failures += 1
            pulse.last = str(error)
            if isinstance(error, StoreUnavailable):
                log.warning("%s waits: %s", name, error)
            else:
                log.exception("%s failed and is begun again", name)
        await asyncio.sleep(wait)
        wait = min(wait * 2, MAX_DELAY)
