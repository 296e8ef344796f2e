"""Drafts of workflows, and lists of workflows for people."""

from __future__ import annotations

from collections.abc import Collection

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import note_one
from penstock.store.postgres.tables.workflow_versions import has_text
from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, VersionLine

_LAST = 2**31 - 1


class PostgresDrafts:
    """See `store.protocol.Drafts`."""

    database: Database

    async def draft(self, workflow: str) -> DraftRow | None:
        found = await self.database.read("one_draft", workflow=workflow)
        return DraftRow(**found[0]) if found else None

    async def save_draft(
        self, draft: NewDraft, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> DraftRow | None:
        async def work(work: Work) -> DraftRow | None:
            if not await has_text(work, draft.workflow, expect):
                return None
            values = {name: getattr(draft, name) for name in NewDraft.__struct_fields__}
            [made] = await work.rows("put_draft", **values)
            await note_one(work, audit)
            return DraftRow(**made)

        return await self.database.transact(work)

    async def drop_draft(
        self, workflow: str, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> bool | None:
        async def work(work: Work) -> bool | None:
            if not await has_text(work, workflow, expect):
                return None
            if not await work.rows("drop_draft", workflow=workflow):
                return False
            await note_one(work, audit)
            return True

        return await self.database.transact(work)

    async def drafts(self) -> list[DraftLine]:
        return [DraftLine(**row) for row in await self.database.read("list_drafts")]

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        last = _LAST if before is None else before
        found = await self.database.read("list_versions", workflow=workflow, before=last, limit=limit)
        return [VersionLine(**row) for row in found]
