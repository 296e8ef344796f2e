"""Tokens under `/custom/`, which workers use freely."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import note, note_one
from penstock.store.rows.access import AuditRow
from penstock.store.rows.rows import TokenChange, TokenRow
from penstock.store.sql.index_scans import LAST

_COLUMNS = "name owner expires priority data"


class _Taken(Exception):
    """Somebody made a token meanwhile: nothing of this attempt may stay."""


class PostgresTokens:
    """See `store.protocol.Tokens`."""

    database: Database

    async def tokens(self, prefix: str, after: str, limit: int) -> list[TokenRow]:
        found = await self.database.read(
            "list_tokens", prefix=prefix, last=prefix + LAST, after=after, limit=limit
        )
        return [TokenRow(**row) for row in found]

    async def change_tokens(
        self, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
    ) -> list[TokenRow] | str:
        while True:
            try:
                return await self.database.transact(lambda work: _change(work, changes, audits))
            except _Taken:
                continue  # it is seen now

    async def claim_tokens(
        self, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
    ) -> list[TokenRow]:
        async def work(work: Work) -> list[Any]:
            found = await work.rows(
                "claim_tokens", owner=owner, prefix=prefix, last=prefix + LAST, lease=lease, limit=limit
            )
            if found:
                await note_one(work, audit)
            return found

        found = await self.database.transact(work, alone=audit is None and self.database.prepared)
        rows = [TokenRow(**row) for row in found]
        return sorted(rows, key=lambda row: (-row.priority, row.name))


async def _change(
    work: Work, changes: Sequence[TokenChange], audits: Sequence[AuditRow]
) -> list[TokenRow] | str:
    rows = await work.rows("lock_tokens", names=[one.name for one in changes])
    found = {row[0]: row[1] for row in rows}
    wrong = next((one.name for one in changes if found.get(one.name) != one.expect), None)
    if wrong is not None:
        return wrong
    await work.many("drop_token", "names", [(one.name,) for one in changes if one.gone])
    put = [one for one in changes if not one.gone]
    written = await _write(work, "insert_token", [one for one in put if one.expect is None])
    written |= await _write(work, "update_token", [one for one in put if one.expect is not None])
    await note(work, audits)
    return [written[one.name] for one in put]


async def _write(work: Work, query: str, changes: Sequence[TokenChange]) -> dict[str, TokenRow]:
    rows = [(one.name, one.owner, one.expires, one.priority, one.data) for one in changes]
    written = {row[0]: TokenRow(**row) for row in await work.many(query, _COLUMNS, rows)}
    if len(written) < len(changes):
        raise _Taken
    return written
