"""Drafts of workflows, and lists of workflows for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, VersionLine
from penstock.store.sqlite.session import NEVER, Row, Session, json_list, moment
from penstock.store.sqlite.tables.audit_log import note_one
from penstock.store.sqlite.tables.workflow_versions import has_text
from penstock.store.sqlite.writer import Writer


class SqliteDrafts:
    """See `store.protocol.Drafts`."""

    _writer: Writer

    async def draft(self, workflow: str) -> DraftRow | None:
        return await self._writer.read(lambda session: _draft(session, workflow))

    async def save_draft(
        self, draft: NewDraft, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> DraftRow | None:
        return await self._writer.write(lambda session: _save(session, draft, expect, audit))

    async def drop_draft(
        self, workflow: str, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> bool | None:
        return await self._writer.write(lambda session: _drop(session, workflow, expect, audit))

    async def drafts(self) -> list[DraftLine]:
        return await self._writer.read(_lines)

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        values = (workflow, NEVER if before is None else before, limit)
        found = await self._writer.read(lambda session: session.rows("list_versions", values))
        return [VersionLine(version=version, note=note, at=moment(at)) for version, note, at in found]

    async def counts(self, workflows: Sequence[str]) -> dict[str, dict[str, int]]:
        return await self._writer.read(lambda session: _counts(session, json_list(workflows)))


def _draft(session: Session, workflow: str) -> DraftRow | None:
    row = session.row("one_draft", (workflow,))
    return None if row is None else _row(row)


def _row(row: Row) -> DraftRow:
    workflow, definition, title, author, at = row
    return DraftRow(workflow=workflow, definition=definition, title=title, author=author, at=moment(at))


def _save(
    session: Session, draft: NewDraft, expect: Collection[str] | None, audit: AuditRow | None
) -> DraftRow | None:
    if not has_text(session, draft.workflow, expect):
        return None
    row = (draft.workflow, draft.definition, draft.title, draft.author, session.now)
    session.run("put_draft", row)
    note_one(session, audit)
    return _row(row)


def _drop(
    session: Session, workflow: str, expect: Collection[str] | None, audit: AuditRow | None
) -> bool | None:
    if not has_text(session, workflow, expect):
        return None
    if session.row_changed("drop_draft", (workflow,)) is None:
        return False
    note_one(session, audit)
    return True


def _lines(session: Session) -> list[DraftLine]:
    return [
        DraftLine(workflow=workflow, title=title, author=author, at=moment(at), changed=bool(changed))
        for workflow, title, author, at, changed in session.rows("list_drafts")
    ]


def _counts(session: Session, names: str) -> dict[str, dict[str, int]]:
    found = {
        workflow: {"succeeded": count}
        for workflow, count in session.rows("count_runs_of_workflows", (names,))
    }
    for workflow, status, count in session.rows("count_other_runs", (names,)):
        found[workflow][status] = count
        found[workflow]["succeeded"] -= count
    return found
