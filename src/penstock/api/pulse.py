"""Whether the database answers: looked at once a second, however many ask."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from penstock.store.people import Notes

REMEMBERED = 1.0
PATIENCE = 5.0
"""Seconds after which a database that does not answer is away."""

log = logging.getLogger("penstock.api")


class Pulse:
    """Anybody may ask for it, so it costs next to nothing and tells nothing but yes or no; the log says more."""

    def __init__(self) -> None:
        self._looking = asyncio.Lock()
        self._fine, self._until = False, 0.0

    async def beats(self, store: Notes) -> bool:
        """Whether the store answers."""
        async with self._looking:
            if monotonic() >= self._until:
                self._fine = await _answers(store)
                self._until = monotonic() + REMEMBERED
            return self._fine


async def _answers(store: Notes) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            await store.notes("ready/")
    except Exception as error:
        log.warning("the database does not answer: %s", repr(error))
        return False
    return True
