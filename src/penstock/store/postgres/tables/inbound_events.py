"""Outside events on their way to a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec import convert

from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.postgres.commit.lock_grants import (
    insert_messages,
    insert_pending,
    lock_keys,
    note_seen,
    owners_of,
)
from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import changed, note_one
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import EventId, PendingEvent
from penstock.store.rows.rows import PendingEventRow
from penstock.store.rules.lock_grants import first_owner


class PostgresInboundEvents:
    """See `store.protocol.InboundEvents`."""

    database: Database

    async def find(self, keys: Sequence[tuple[str, str]]) -> str | None:
        async def work(work: Work) -> str | None:
            return first_owner(await owners_of(work, keys), keys)

        return await self.database.transact(work, alone=self.database.prepared, changes=False)

    async def keep(self, pending_event: PendingEvent) -> str | None:
        return await self.database.transact(lambda work: _keep(work, pending_event))

    async def seen(self, ids: Sequence[EventId]) -> list[bool]:
        rows = [(one.scope, one.id) for one in ids]
        found = await self.database.read("seen_there", **columns("scope id", rows))
        came = {row["ord"] for row in found}
        return [place in came for place in range(1, len(ids) + 1)]

    async def settle(self, id: int, *, deliver: bool, audit: AuditRow | None = None) -> bool:
        if deliver:
            return await self.database.transact(lambda work: _redeliver(work, id, audit))
        return await changed(self.database, "drop_kept", audit, ids=[id])

    async def undelivered(self, after: int, limit: int) -> list[PendingEventRow]:
        found = await self.database.read("list_kept", after=after, limit=limit)
        return [convert(dict(row), PendingEventRow) for row in found]

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        found = await self.database.read("list_refused", limit=limit)
        return [(row[0], row[1], row[2], row[3]) for row in found]


async def _keep(work: Work, pending_event: PendingEvent) -> str | None:
    """An event that is not kept leaves no trace: its run will note the id itself."""
    # Alone with the keys: else a run could get one between the look and the keeping, and never hear of the event.
    await lock_keys(work, [], pending_event.keys)
    seen = pending_event.seen
    if seen is not None and await work.rows("seen_there", **columns("scope id", [(seen.scope, seen.id)])):
        return ""
    owner = first_owner(await owners_of(work, pending_event.keys), pending_event.keys)
    if owner is not None:
        return owner
    if not await note_seen(work, [pending_event]):
        return ""
    await insert_pending(work, [pending_event])
    return None


async def _redeliver(work: Work, id: int, audit: AuditRow | None) -> bool:
    keys = [(row[0], row[1]) for row in await work.rows("kept_keys", kept=id)]
    await lock_keys(work, [], keys)
    owner = first_owner(await owners_of(work, keys), keys)
    body = await work.value("kept_body", id=id)
    if owner is None or body is None or not await work.rows("drop_kept", ids=[id]):
        return False
    # Whoever looks first: the caller is not told of it.
    await insert_messages(work, [(owner, body)], await work.value("read_now"), timedelta(0))
    await note_one(work, audit)
    return True
