"""Drafts of workflows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft
from penstock.store.sqlite.session import Session, moment, reads, struct, structs, writes
from penstock.store.sqlite.tables.audit_log import changed
from penstock.store.sqlite.tables.workflow_versions import has_text


def _draft(session: Session, workflow: str) -> DraftRow | None:
    row = session.row("one_draft", (workflow,))
    return None if row is None else struct(DraftRow, row, at=moment)


def _save(
    session: Session,
    workflow: str,
    draft: NewDraft | None,
    expect: Collection[str] | None = None,
    audit: AuditRow | None = None,
) -> datetime | None:
    if not has_text(session, workflow, expect):
        return None
    if draft is None:
        changed(session, "drop_draft", (workflow,), audit)
    else:
        values = (workflow, draft.definition, draft.title, draft.author, session.now)
        changed(session, "put_draft", values, audit)
    return moment(session.now)


def _lines(session: Session) -> list[DraftLine]:
    return structs(DraftLine, session.rows("list_drafts"), at=moment, changed=bool)


class SqliteDrafts:
    """See `store.protocol.Drafts`."""

    draft = reads(_draft)
    save_draft = writes(_save)
    drafts = reads(_lines)
