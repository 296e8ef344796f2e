"""Published workflows, and what is paused."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from penstock.store.postgres.commit.column_arrays import advisory
from penstock.store.postgres.commit.lock_grants import insert_messages
from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import changed, note_one
from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import NewVersion, VersionLine, is_expected
from penstock.store.rows.rows import Version, WorkflowState

_MAX_VERSION = 2**31 - 1


class PostgresWorkflowVersions:
    """See `store.protocol.WorkflowVersions`."""

    database: Database

    async def publish(
        self, new: NewVersion, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> Version | None:
        async def work(work: Work) -> Version | None:
            if not await has_text(work, new.workflow, expect):
                return None
            version, changed = await _make_version(work, new)
            draft = await work.rows("one_draft", workflow=new.workflow) if new.draft else []
            if draft and draft[0]["definition"] == new.definition:
                changed = bool(await work.rows("drop_draft", workflow=new.workflow))
            if changed:
                await note_one(work, audit)
            return version

        return await self.database.transact(work)

    async def version(self, workflow: str, version: int | None) -> Version | None:
        if version is None:
            found = await self.database.read("newest_version", workflow=workflow)
        else:
            found = await self.database.read("one_version", workflow=workflow, version=version)
        return Version(**found[0]) if found else None

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        last = _MAX_VERSION if before is None else before
        found = await self.database.read("list_versions", workflow=workflow, before=last, limit=limit)
        return [VersionLine(**row) for row in found]

    async def workflows(self, workflow: str | None = None) -> list[WorkflowState]:
        if workflow is None:
            found = await self.database.read("list_workflows")
        else:
            found = await self.database.read("one_workflow", name=workflow)
        return [WorkflowState(**row) for row in found]

    async def set_started(self, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
        return await changed(self.database, "start_workflow", audit, name=workflow, started=started)

    async def set_paused(
        self,
        workflow: str | None,
        paused: bool,
        body: bytes,
        undone: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> bool:
        async def work(work: Work) -> bool:
            known, changed = await _set_paused(work, workflow, paused, body, undone)
            if changed:
                await note_one(work, audit)
            return known

        return await self.database.transact(work)


async def _make_version(work: Work, new: NewVersion) -> tuple[Version, bool]:
    """The next version, or the newest one where that will do; whether something was changed."""
    newest = await work.rows("newest_version", workflow=new.workflow)
    same = bool(newest) and (newest[0]["definition"], newest[0]["offers"]) == (new.definition, new.offers)
    if same and not new.again:
        return Version(**newest[0]), await _restart(work, new)
    number = newest[0]["version"] + 1 if newest else 1
    text = {name: getattr(new, name) for name in ("workflow", "definition", "offers", "note")}
    [made] = await work.rows("insert_version", version=number, **text)
    await work.rows("put_workflow", name=new.workflow, latest=number, started=new.start)
    await _restart(work, new)
    return Version(**made), True


async def _restart(work: Work, new: NewVersion) -> bool:
    return new.restart and bool(await work.rows("start_workflow", name=new.workflow, started=True))


async def _set_paused(
    work: Work, workflow: str | None, paused: bool, body: bytes, undone: bytes | None
) -> tuple[bool, bool]:
    """Whether there is such a workflow, and whether it was changed."""
    await work.rows("lock_keys", keys=[advisory("pause", workflow or "")])
    if workflow is None:
        was = bool(await work.value("installation_paused"))
    else:
        was = await work.value("workflow_paused", name=workflow)
    if was is None:
        return False, False
    if was == paused:
        return True, False
    if workflow is None:
        await work.rows("put_setting", name="paused", value="yes" if paused else "no")
        await work.rows("take_back_messages", body=undone)
        live = await work.rows("live_runs")
    else:
        await work.rows("pause_workflow", name=workflow, paused=paused)
        await work.rows("take_back_messages_of_workflow", workflow=workflow, body=undone)
        live = await work.rows("live_runs_of_workflow", workflow=workflow)
    posts = [(row["id"], body) for row in live]
    await insert_messages(work, posts, await work.value("read_now"), timedelta(0))
    return True, True


async def has_text(work: Work, workflow: str, expect: Collection[str] | None) -> bool:
    """Whether the draft, or the newest version where there is none, is one of those expected.

    Nobody else changes either of them until the end of the transaction.
    """
    await work.rows("lock_keys", keys=[advisory("workflow", workflow)])
    if expect is None:
        return True
    found = await work.rows("one_draft", workflow=workflow) or await work.rows(
        "newest_version", workflow=workflow
    )
    return is_expected(expect, found[0]["definition"] if found else None)
