"""Published workflows, and what is paused."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import NewVersion, VersionLine, is_expected
from penstock.store.rows.rows import Version, WorkflowState
from penstock.store.sqlite.commit.lock_grants import insert_messages
from penstock.store.sqlite.session import (
    NEVER,
    Row,
    Session,
    moment,
    moment_or_none,
    reads,
    struct,
    structs,
    writes,
)
from penstock.store.sqlite.tables.audit_log import changed, note_one


def _row(row: Row) -> Version:
    return struct(Version, row, at=moment)


def _publish(
    session: Session, new: NewVersion, expect: Collection[str] | None = None, audit: AuditRow | None = None
) -> Version | None:
    if not has_text(session, new.workflow, expect):
        return None
    version, changed = _make_version(session, new)
    if new.draft:
        draft = session.row("one_draft", (new.workflow,))
        if draft is not None and draft[1] == new.definition:
            session.run("drop_draft", (new.workflow,))
            changed = True
    if changed:
        note_one(session, audit)
    return version


def has_text(session: Session, workflow: str, expect: Collection[str] | None) -> bool:
    """Whether the draft, or the newest version where there is none, is one of those expected."""
    if expect is None:
        return True
    draft = session.row("one_draft", (workflow,))
    newest = session.row("newest_version", (workflow,)) if draft is None else None
    text = draft[1] if draft is not None else newest[2] if newest is not None else None
    return is_expected(expect, text)


def _make_version(session: Session, new: NewVersion) -> tuple[Version, bool]:
    """The next version, or the newest one where that will do; whether something was changed."""
    newest = session.row("newest_version", (new.workflow,))
    if not new.again and newest is not None and (newest[2], newest[3]) == (new.definition, new.offers):
        return _row(newest), _restart(session, new)
    number = newest[1] + 1 if newest else 1
    row = (new.workflow, number, new.definition, new.offers, new.note, session.now)
    session.run("insert_version", row)
    session.run("put_workflow", (new.workflow, number, new.start, session.now))
    _restart(session, new)
    return _row(row), True


def _restart(session: Session, new: NewVersion) -> bool:
    return new.restart and session.run("start_workflow", (True, session.now, new.workflow)) > 0


def _version(session: Session, workflow: str, version: int | None) -> Version | None:
    if version is None:
        found = session.row("newest_version", (workflow,))
    else:
        found = session.row("one_version", (workflow, version))
    return None if found is None else _row(found)


def _versions(session: Session, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
    values = (workflow, NEVER if before is None else before, limit)
    return structs(VersionLine, session.rows("list_versions", values), at=moment)


def _workflows(session: Session, workflow: str | None = None) -> list[WorkflowState]:
    halted = _installation(session)
    query, values = ("list_workflows", ()) if workflow is None else ("one_workflow", (workflow,))
    rows = [(*row[:4], halted, *row[4:]) for row in session.rows(query, values)]
    times = {"started_at": moment_or_none, "stopped_at": moment_or_none}
    return structs(WorkflowState, rows, started=bool, paused=bool, **times)


def _set_started(session: Session, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
    return changed(session, "start_workflow", (started, session.now, workflow), audit)


def _set_paused(
    session: Session,
    workflow: str | None,
    paused: bool,
    body: bytes,
    undone: bytes | None = None,
    audit: AuditRow | None = None,
) -> bool:
    was = _installation(session) if workflow is None else _paused(session, workflow)
    if was is None:
        return False
    if was == paused:
        return True
    if workflow is None:
        session.run("put_setting", ("paused", "yes" if paused else "no"))
        session.run("take_back_messages", (undone,))
        live = session.rows("live_runs")
    else:
        session.run("pause_workflow", (paused, workflow))
        session.run("take_back_messages_of_workflow", (undone, workflow))
        live = session.rows("live_runs_of_workflow", (workflow,))
    insert_messages(session, [(run, body) for (run,) in live], timedelta(0))
    note_one(session, audit)
    return True


def _paused(session: Session, workflow: str) -> bool | None:
    found = session.row("workflow_paused", (workflow,))
    return None if found is None else bool(found[0])


def _installation(session: Session) -> bool:
    return session.row("read_setting", ("paused",)) == ("yes",)


class SqliteWorkflowVersions:
    """See `store.protocol.WorkflowVersions`."""

    publish = writes(_publish)
    version = reads(_version)
    versions = reads(_versions)
    workflows = reads(_workflows)
    set_started = writes(_set_started)
    set_paused = writes(_set_paused)
