"""Drafts of workflows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec.structs import asdict

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import note_one
from penstock.store.postgres.tables.workflow_versions import has_text
from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft


class PostgresDrafts:
    """See `store.protocol.Drafts`."""

    database: Database

    async def draft(self, workflow: str) -> DraftRow | None:
        found = await self.database.read("one_draft", workflow=workflow)
        return DraftRow(**found[0]) if found else None

    async def save_draft(
        self,
        workflow: str,
        draft: NewDraft | None,
        expect: Collection[str] | None = None,
        audit: AuditRow | None = None,
    ) -> datetime | None:
        async def work(work: Work) -> datetime | None:
            if not await has_text(work, workflow, expect):
                return None
            if draft is None:
                changed = await work.rows("drop_draft", workflow=workflow)
            else:
                changed = await work.rows("put_draft", workflow=workflow, **asdict(draft))
            now: datetime = changed[0]["at"] if changed else await work.value("read_now")
            if changed:
                await note_one(work, audit)
            return now

        return await self.database.transact(work)

    async def drafts(self) -> list[DraftLine]:
        return [DraftLine(**row) for row in await self.database.read("list_drafts")]
