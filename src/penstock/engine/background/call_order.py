"""The order of calls across all nodes: a call waits until an earlier one with its key has ended or timed out.

An attempt announces itself before it calls, and keeps that for as long as it may call; one of a node that died is
over when its last call must have timed out. Announcements are tokens, written for many attempts at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import blake2b
from secrets import token_hex
from typing import Protocol

from msgspec import Struct

from penstock.store.protocol import TaskViews, Tokens
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import TokenChange, TokenRow

log = logging.getLogger("penstock.call_order")
ROOT = "/custom/penstock-turns/"
MAX_PAGE, MAX_ATTEMPTS = 1000, 20
POLL_INTERVAL = 0.2
"""Seconds between checks whether another call has ended."""
Attempted = tuple[str, int, int | None, int]
"""Run, firing, index and number of an attempt."""


class CallRows(TaskViews, Tokens, Protocol):
    """Who waits for whom, and for which tasks."""


class _Announcement(Struct):
    """An announcement until a time, or (None) its end."""

    name: str
    until: datetime | None
    place: Attempted | None
    done: asyncio.Future[bool]


class CallOrder:
    """The announcements of one node, and a look at those of others."""

    def __init__(self, store: CallRows, now: Callable[[], datetime]) -> None:
        self._store, self._now, self._me = store, now, token_hex(8)
        self._held: dict[str, TokenRow] = {}
        self._leaving: set[str] = set()
        self._requests: list[_Announcement] = []
        self._writing: asyncio.Task[None] | None = None

    async def begin(self, key: str, span: timedelta, place: Attempted) -> bool:
        """Announce a call that takes no longer than `span`; False: the attempt was withdrawn, and must not call."""
        name, now = _name(key), self._now()
        held = None if name in self._leaving else self._held.get(name)
        if held is not None and held.owner == self._me and held.expires and held.expires - now >= span:
            return True
        self._leaving.discard(name)
        return await self._announce(name, now + 2 * span, place)

    async def end(self, key: str) -> None:
        """All calls under a key are over."""
        name = _name(key)
        if name in self._held:
            self._leaving.add(name)  # a call that begins meanwhile announces itself again
            await self._announce(name, None, None)

    async def others_over(self, key: str) -> None:
        """Wait until no other node can have an active call."""
        name = _name(key)
        while True:
            row = next((row for row in await self._store.tokens(name, "", 1) if row.name == name), None)
            if row is None or row.owner == self._me or row.expires is None or row.expires <= self._now():
                return
            await asyncio.sleep(min(POLL_INTERVAL, (row.expires - self._now()).total_seconds()))

    # -- writing ---------------------------------------------------------------------------------------------

    async def _announce(self, name: str, until: datetime | None, place: Attempted | None) -> bool:
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._requests.append(_Announcement(name, until, place, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        while self._requests:
            batch, self._requests = self._requests[:MAX_PAGE], self._requests[MAX_PAGE:]
            try:
                await self._put({request.name: request for request in batch})
                wanted = await self._wanted(batch)
            except Exception as error:  # then the attempt cannot be reported either: it will be repeated
                log.warning("calls in progress cannot be announced to other nodes: %s", error)
                wanted = None
            for request in batch:
                if not request.done.done():
                    request.done.set_result(
                        wanted is None or request.place is None or request.place in wanted
                    )

    async def _put(self, requests: dict[str, _Announcement]) -> None:
        """Write the last wish of each name. Raises StoreError."""
        for _ in range(MAX_ATTEMPTS):
            changes = [
                change for request in requests.values() if (change := self._change(request)) is not None
            ]
            written = await self._store.change_tokens(changes) if changes else []
            if not isinstance(written, str):
                self._held.update({row.name: row for row in written})
                for change in changes:
                    if change.gone:
                        self._held.pop(change.name, None)
                        self._leaving.discard(change.name)
                return
            await self._look_again(requests)

    def _change(self, request: _Announcement) -> TokenChange | None:
        held = self._held.get(request.name)
        expect = None if held is None else held.version
        if request.until is not None:
            return TokenChange(name=request.name, expect=expect, owner=self._me, expires=request.until)
        mine = held is not None and held.owner == self._me
        return TokenChange(name=request.name, expect=expect, gone=True) if mine else None

    async def _look_again(self, requests: dict[str, _Announcement]) -> None:
        """Somebody else has announced the same: from now on it is ours."""
        for name in requests:
            self._held.pop(name, None)
        after = ""
        while rows := await self._store.tokens(ROOT, after, MAX_PAGE):
            self._held.update({row.name: row for row in rows if row.name in requests})
            after = rows[-1].name

    async def _wanted(self, batch: list[_Announcement]) -> set[Attempted]:
        """The attempts that are still wanted, looked at after they were announced. Raises StoreError."""
        runs = {request.place[0] for request in batch if request.place is not None}
        leases = [row.lease for run in runs for row in await self._store.tasks(run)]
        return {
            (one.run, one.firing, None if one.index == WHOLE else one.index, one.attempt) for one in leases
        }


def _name(key: str) -> str:
    return ROOT + blake2b(key.encode(), digest_size=16).hexdigest()
