"""Leases of triggers: a node is alive while it renews its lease, and each trigger has one holder at a time.

All is kept as tokens under `/feeds/`, where nobody writes through the API. A node that dies is buried by another once
the store says that its time is over, and then nothing that it still writes is taken.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.errors import PenstockError
from penstock.store.protocol import Tokens
from penstock.store.rows.rows import TokenChange, TokenRow

TRIGGER_PREFIX, NODES = "/feeds/of/", "/feeds/nodes/"
LEASE_DURATION = timedelta(seconds=12)
"""How long a silent node keeps its triggers."""

SAFETY_MARGIN = 1 / 6
"""A node stops this fraction of the lease early, because its clock and the store's may drift a little."""

MAX_EXPIRED_NODES = 100
"""Dead nodes that are expired at a time."""

MAX_ATTEMPTS = 5
T = TypeVar("T")
"""How often a record is rewritten because an earlier write of the same holder arrived late."""


class Lost(PenstockError):
    """Another node feeds now, or may: stop at once, and write nothing more."""

    code = "feed_lost"

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is fed by another node now")


class Record(Struct, frozen=True, kw_only=True):
    """The record of a trigger: its state, from which the next holder continues, and its last error."""

    kind: str
    state: Any = None
    error: str | None = None
    error_at: datetime | None = None
    failures: int = 0
    # The workflow was stopped, rather than its node: events from meanwhile are not made up for.
    stopped: bool = False


def trigger_name(workflow: str, event: str | None = None, kind: str = "source") -> str:
    """The token of a workflow's source, or of an outside event of it. No such name begins another one."""
    what = kind if event is None else f"external/{event.replace('%', '%25').replace('/', '%2F')}"
    return f"{TRIGGER_PREFIX}{workflow}/{what}/"


def trigger_of(name: str) -> tuple[str, str, str | None]:
    """Whose feed a token is: the workflow, what of it is fed, and of `external` the event."""
    workflow, what, *rest = name.removeprefix(TRIGGER_PREFIX)[:-1].split("/")
    return workflow, what, rest[0].replace("%2F", "/").replace("%25", "%") if rest else None


class NodeLease:
    """One node among those that hold triggers. With an exclusive store it is always alive; earlier nodes are dead."""

    def __init__(
        self, store: Tokens, now: Callable[[], datetime], *, shared: bool, lease: timedelta = LEASE_DURATION
    ) -> None:
        self._store, self._now, self.shared, self._lease = store, now, shared, lease
        self.owner = _new_owner()
        self._version: int | None = None
        self._until = 0.0

    @property
    def alive(self) -> bool:
        """Whether nobody can have taken this node for dead."""
        return not self.shared or _time() < self._until

    async def renew(self) -> None:
        """Renew the lease of this node. Raises Lost if it had expired: the node then has a new identity."""
        if not self.shared:
            return
        until = _time() + self._lease.total_seconds() * (1 - SAFETY_MARGIN)
        version = await _write(self._store, self._change(expires=self._now() + self._lease), self.owner)
        if version is None and self._version is not None:
            lost, self.owner, self._version, self._until = self._name, _new_owner(), None, 0.0
            raise Lost(lost)
        if version is None:
            raise Lost(self._name)
        if self._version is None:
            await self._sweep(
                NODES, MAX_EXPIRED_NODES
            )  # who died without holding anything: nobody else would
        self._version, self._until = version, until

    async def release(self) -> None:
        """Go: others take over at once."""
        self._until = 0.0
        if self.shared and self._version is not None:
            await _write(self._store, self._change(gone=True), self.owner)
        self._version = None

    async def expire(self, owner: str) -> bool:
        """Whether the node of that name is dead or never existed."""
        if not self.shared:
            return owner != self.owner
        name = f"{NODES}{owner}/"
        return await self._sweep(name, 1) or await _read(self._store, name) is None

    async def _sweep(self, prefix: str, limit: int) -> bool:
        """Bury nodes that died; whether there was one."""
        rows = await self._store.claim_tokens(self.owner, prefix, self._lease, limit)
        for row in rows:
            await self._store.change_tokens([TokenChange(name=row.name, expect=row.version, gone=True)])
        return bool(rows)

    @property
    def _name(self) -> str:
        return f"{NODES}{self.owner}/"

    def _change(self, expires: datetime | None = None, gone: bool = False) -> TokenChange:
        return TokenChange(
            name=self._name, expect=self._version, owner=self.owner, expires=expires, gone=gone
        )


class TriggerLease:
    """One feed, held by a node: `record` is what the store has of it."""

    def __init__(self, store: Tokens, name: str, owner: str, version: int, record: Record) -> None:
        self._store, self.name, self._owner, self._version = store, name, owner, version
        self.record = record
        self._writing = asyncio.Lock()

    @classmethod
    async def take(cls, store: Tokens, node_lease: NodeLease, name: str, kind: str) -> TriggerLease | None:
        """Hold the feed; None: another node does, and lives. What another kind of source left behind is dropped."""
        row = await _read(store, name)
        owner = None if row is None else row.owner
        if owner is not None and owner != node_lease.owner and not await node_lease.expire(owner):
            return None
        record = read_record(row) if row is not None else None
        if record is None or record.kind != kind:
            record = Record(kind=kind)
        change = TokenChange(
            name=name,
            expect=None if row is None else row.version,
            owner=node_lease.owner,
            data=msgspec.json.encode(record),
        )
        done = await store.change_tokens([change])
        return None if isinstance(done, str) else cls(store, name, node_lease.owner, done[0].version, record)

    async def keep(self, **changes: Any) -> None:
        """Write what changed of the record. Raises Lost."""
        async with self._writing:
            await self._write(replace(self.record, **changes), self._owner)

    async def give_back(self) -> None:
        """Release it; its record stays."""
        async with self._writing:
            await self._write(self.record, None)

    async def _write(self, record: Record, owner: str | None) -> None:
        change = TokenChange(
            name=self.name, expect=self._version, owner=owner, data=msgspec.json.encode(record)
        )
        version = await _write(self._store, change, self._owner)
        if version is None:
            raise Lost(self.name)
        self._version, self.record = version, record


def read_record(row: TokenRow) -> Record | None:
    """The record in a trigger's token; None if it is unreadable, and the trigger starts over."""
    try:
        return msgspec.json.decode(row.data, type=Record)
    except msgspec.DecodeError:
        return None


def read_state(state: Any, kind: type[T]) -> T | None:
    """The state that a record has, as a kind of source keeps it; None: it has none, or one of another kind."""
    try:
        return None if state is None else msgspec.convert(state, kind)
    except msgspec.ValidationError:
        return None


async def mark_well(store: Tokens, name: str, **changes: Any) -> bool:
    """Note what changed of a feed that nobody holds; what went wrong with it is over.

    False: somebody still holds the feed, or was faster: ask again.
    """
    row = await _read(store, name)
    record = None if row is None else read_record(row)
    if row is None or record is None:
        return True
    marked = replace(record, error=None, error_at=None, failures=0, **changes)
    if marked == record:
        return True
    if row.owner is not None:
        return False
    change = TokenChange(name=name, expect=row.version, data=msgspec.json.encode(marked))
    return not isinstance(await store.change_tokens([change]), str)


async def _write(store: Tokens, change: TokenChange, owner: str) -> int | None:
    """The version that was written (0: deleted), None where somebody else owns the token, or took it away.

    A write of the same owner of which nobody knew whether it was done may have made another version meanwhile.
    """
    for _ in range(MAX_ATTEMPTS):
        done = await store.change_tokens([change])
        if not isinstance(done, str):
            return done[0].version if done else 0
        row = await _read(store, change.name)
        if row is None or row.owner != owner:
            return None
        change = replace(change, expect=row.version)
    return None


async def _read(store: Tokens, name: str) -> TokenRow | None:
    rows = await store.tokens(name, "", 1)
    return rows[0] if rows and rows[0].name == name else None


def _new_owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def _time() -> float:
    return asyncio.get_running_loop().time()
