"""The audit log: entries are only added, as the last statement of the transaction that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple

from penstock.store.postgres.database import Database, Work
from penstock.store.rows.access import Audited, AuditPage, AuditRow
from penstock.store.rows.audit_chain import chained, read_head, write_head

_MAX_NUMBER = 2**63 - 1
_COLUMNS = "number at actor token_id ip action target was became reason hash"


class PostgresAuditLog:
    """See `store.protocol.AuditLog`."""

    database: Database

    async def record(self, audits: Sequence[AuditRow]) -> None:
        await self.database.transact(lambda work: note(work, audits))

    async def audits(self, limit: int, *, after: int | None = None, before: int | None = None) -> AuditPage:
        head = await self.database.read("read_setting", name="audit")
        if after is not None:
            rows = await self.database.read("next_audits", after=after, limit=limit)
        else:
            first = _MAX_NUMBER if before is None else before
            rows = await self.database.read("newest_audits", before=first, limit=limit)
        return AuditPage([entry(row) for row in rows], read_head(head[0]["value"] if head else None))


async def note(work: Work, rows: Sequence[AuditRow]) -> None:
    """Add entries at the end of the chain; who else adds some waits until this transaction ends."""
    if not rows:
        return
    [(head, now)] = await work.rows("lock_audit")
    entries = chained(read_head(head), now, rows)
    columns = [(one.number, one.at, *astuple(one.row), one.hash) for one in entries]
    await work.many("insert_audit", _COLUMNS, columns)
    await work.rows("put_setting", name="audit", value=write_head(entries[-1]))


async def changed(database: Database, query: str, audit: AuditRow | None, **values: Any) -> bool:
    """Whether a statement changed its row; the entry is written where it did."""

    async def work(work: Work) -> bool:
        changed = bool(await work.rows(query, **values))
        if changed:
            await note_one(work, audit)
        return changed

    return await database.transact(work)


async def note_one(work: Work, row: AuditRow | None) -> None:
    """Add an entry where there is one."""
    if row is not None:
        await note(work, [row])


def entry(row: Any) -> Audited:
    """An entry as it was written."""
    same = {name: row[name] for name in ("actor", "token_id", "ip", "action", "target", "reason")}
    said = AuditRow(before=row["was"], after=row["became"], **same)
    return Audited(number=row["number"], at=row["at"], row=said, hash=row["hash"])
