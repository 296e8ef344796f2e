"""Small texts by name."""

from __future__ import annotations

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import note_one
from penstock.store.rows.access import AuditRow


class PostgresNotes:
    """See `store.protocol.Notes`."""

    database: Database

    async def notes(self, prefix: str) -> dict[str, str]:
        return {row["name"]: row["value"] for row in await self.database.read("list_notes", prefix=prefix)}

    async def put_note(
        self, name: str, text: str | None, audit: AuditRow | None = None, *, replace: bool = True
    ) -> str | None:
        async def work(work: Work) -> str | None:
            if not replace and await work.rows("keep_note", name=name, value=text):
                await note_one(work, audit)
                return None
            was: str | None = await work.value("read_note", name=name)
            if not replace:
                return was
            if text is None:
                await work.rows("drop_note", name=name)
            else:
                await work.rows("put_note", name=name, value=text)
            if was is not None or text is not None:
                await note_one(work, audit)
            return was

        return await self.database.transact(work)
