"""Whether this node is ready: checked at most once a second, however many callers ask."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Literal

from penstock.secrets.errors import SecretKeyError
from penstock.secrets.vault import Vault

CACHE_SECONDS = 1.0
DATABASE_TIMEOUT = 5.0
"""Seconds after which a database that does not answer counts as unavailable."""

log = logging.getLogger("penstock.api")

Trouble = Literal["away", "locked"]
"""The database does not answer, or its secrets cannot be opened with the keys of this node."""


class Readiness:
    """Anybody may ask for it, so it costs next to nothing and tells no details; the log says more."""

    def __init__(self) -> None:
        self._looking = asyncio.Lock()
        self._found: Trouble | None = None
        self._until = 0.0

    async def trouble(self, vault: Vault) -> Trouble | None:
        """What is wrong, if anything is."""
        async with self._looking:
            if monotonic() >= self._until:
                self._found = await _trouble(vault)
                self._until = monotonic() + CACHE_SECONDS
            return self._found


async def _trouble(vault: Vault) -> Trouble | None:
    try:
        async with asyncio.timeout(DATABASE_TIMEOUT):
            await vault.check()
    except SecretKeyError as error:
        log.warning("this node is not ready: %s", error)
        return "locked"
    except Exception as error:
        log.warning("the database does not answer: %s", repr(error))
        return "away"
    return None
