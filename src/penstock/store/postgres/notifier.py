"""NOTIFY hints to other nodes that there may be work. Hints get lost: every node polls as well."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg

from penstock.store.errors import StoreError
from penstock.store.postgres.database import Database

CHANNEL = "penstock"
MIN_PAUSE = 0.02
"""Seconds between two hints of one kind: every NOTIFY takes a lock that all commits of the database wait for."""
MAX_RECONNECT_PAUSE = 5.0
MAX_HINT = 7_500
"""Characters of a hint: PostgreSQL takes no 8,000 bytes."""


class Listener:
    """A connection of its own that listens. It may break at any time; then it is made again, ever more slowly."""

    def __init__(self, database: Database) -> None:
        self.me = secrets.token_hex(8)
        self._database = database
        self._heard: dict[str, None] = {}
        self._rung = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._deaf = False

    async def hear(self, timeout: float) -> str | None:
        """The first hint that came from elsewhere."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        if not self._heard:
            self._rung.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._rung.wait()
        found = next(iter(self._heard), None)
        if found is not None:
            del self._heard[found]
        return found

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, what: str) -> None:
        self._heard[what] = None
        self._rung.set()

    def _notified(self, connection: Any, pid: int, channel: str, text: object) -> None:
        what, _, who = str(text).rpartition(":")
        if who != self.me:
            self._note(what)

    async def _listen(self) -> None:
        wait = 0.1
        while True:
            try:
                if await self._until_broken():
                    wait = 0.1
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                pass  # nobody is told: a deaf node polls
            self._deaf = True
            await asyncio.sleep(wait)
            wait = min(wait * 2, MAX_RECONNECT_PAUSE)

    async def _until_broken(self) -> bool:
        broken = asyncio.Event()
        connection = await asyncpg.connect(self._database.address.dsn, **self._database.options())
        try:
            connection.add_termination_listener(lambda _: broken.set())
            await connection.add_listener(CHANNEL, self._notified)
            for what in ("tasks", "messages", "runs=") if self._deaf else ():
                self._note(what)  # what was rung meanwhile is lost
            self._deaf = False
            await broken.wait()
            return True
        finally:
            connection.terminate()


class PostgresNotifier:
    """See `store.protocol.Notifier`."""

    database: Database
    listener: Listener
    hints: dict[str, asyncio.Task[None]]
    again: set[str]

    async def notify(self, what: str, runs: Sequence[str] = ()) -> None:
        """At most one hint at tasks or messages goes out in 20 ms; one that comes too soon goes out at their end."""
        if what == "runs":
            named = ",".join(runs)
            await self._send(f"runs={named if len(named) < MAX_HINT else ''}")
        elif (ringing := self.hints.get(what)) is None or ringing.done():
            self.hints[what] = asyncio.create_task(self._hint(what))
        else:
            self.again.add(what)

    async def _send(self, what: str) -> None:
        await self.database.rows("ring_bell", channel=CHANNEL, what=f"{what}:{self.listener.me}")

    async def _hint(self, what: str) -> None:
        while True:
            self.again.discard(what)
            with contextlib.suppress(StoreError):  # a hint that is lost costs a poll
                await self._send(what)
            await asyncio.sleep(MIN_PAUSE)
            if what not in self.again:
                return

    async def listen(self, timeout: timedelta) -> str | None:
        return await self.listener.hear(timeout.total_seconds())
