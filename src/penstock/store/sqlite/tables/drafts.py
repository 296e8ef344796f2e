"""Drafts of workflows, and lists of workflows for people."""

from __future__ import annotations

from collections.abc import Collection

from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, VersionLine
from penstock.store.sqlite.session import NEVER, Session, moment, reads, struct, structs, writes
from penstock.store.sqlite.tables.audit_log import changed, note_one
from penstock.store.sqlite.tables.workflow_versions import has_text


def _draft(session: Session, workflow: str) -> DraftRow | None:
    row = session.row("one_draft", (workflow,))
    return None if row is None else struct(DraftRow, row, at=moment)


def _save(
    session: Session, draft: NewDraft, expect: Collection[str] | None = None, audit: AuditRow | None = None
) -> DraftRow | None:
    if not has_text(session, draft.workflow, expect):
        return None
    row = (draft.workflow, draft.definition, draft.title, draft.author, session.now)
    session.run("put_draft", row)
    note_one(session, audit)
    return struct(DraftRow, row, at=moment)


def _drop(
    session: Session, workflow: str, expect: Collection[str] | None = None, audit: AuditRow | None = None
) -> bool | None:
    if not has_text(session, workflow, expect):
        return None
    return changed(session, "drop_draft", (workflow,), audit)


def _lines(session: Session) -> list[DraftLine]:
    return structs(DraftLine, session.rows("list_drafts"), at=moment, changed=bool)


def _versions(session: Session, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
    values = (workflow, NEVER if before is None else before, limit)
    return structs(VersionLine, session.rows("list_versions", values), at=moment)


class SqliteDrafts:
    """See `store.protocol.Drafts`."""

    draft = reads(_draft)
    save_draft = writes(_save)
    drop_draft = writes(_drop)
    drafts = reads(_lines)
    versions = reads(_versions)
