"""The order of writers of an object: one reads and writes at a time, across the installation.

Stores have no conditional write of tags. Within a process a lock is enough; where several nodes share the database, a
token of it is held too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from hashlib import blake2b
from secrets import token_hex
from weakref import WeakValueDictionary

from penstock.store.errors import StoreError
from penstock.store.protocol import Tokens
from penstock.store.rows.rows import TokenChange

LOCKS = "/feeds/turns/"
LEASE = timedelta(seconds=60)
"""How long the turn of a node that died is waited for."""

WAITS = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Seconds between two looks whether another node is done; the last again and again."""


class UpdateOrder:
    """Of one process; with `tokens` of all that share them."""

    def __init__(self, tokens: Tokens | None = None, now: Callable[[], datetime] | None = None) -> None:
        self._tokens, self._now = tokens, now
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def at(self, what: str) -> AsyncIterator[None]:
        """Alone with it until the end of the block. Raises StoreError."""
        name = blake2b(what.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            if self._tokens is None or self._now is None:
                yield
                return
            held = await _taken(self._tokens, f"{LOCKS}{name}/", self._now)
            try:
                yield
            finally:
                with suppress(StoreError):  # it ends by itself
                    await self._tokens.change_tokens([held])


async def _taken(tokens: Tokens, name: str, now: Callable[[], datetime]) -> TokenChange:
    """Hold the token; what gives it back."""
    owner, tries = token_hex(8), 0
    while True:
        mine = TokenChange(name=name, owner=owner, expires=now() + LEASE)
        made = await tokens.change_tokens([mine])
        rows = await tokens.claim_tokens(owner, name, LEASE, 1) if isinstance(made, str) else made
        if rows:
            return TokenChange(name=name, expect=rows[0].version, gone=True)
        await asyncio.sleep(WAITS[min(tries, len(WAITS) - 1)])
        tries += 1
