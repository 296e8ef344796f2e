"""Small texts by name."""

from __future__ import annotations

from penstock.store.rows.access import AuditRow
from penstock.store.sqlite.session import Session, reads, writes
from penstock.store.sqlite.tables.audit_log import note_one


def _keep(session: Session, name: str, text: str) -> str:
    session.run("keep_note", (name, text))
    found = session.row("read_note", (name,))
    assert found is not None
    return str(found[0])


def _put(session: Session, name: str, text: str | None, audit: AuditRow | None = None) -> bool:
    was = session.row("read_note", (name,)) is not None
    if text is None:
        session.run("drop_note", (name,))
    else:
        session.run("put_note", (name, text))
    if was or text is not None:
        note_one(session, audit)
    return was


def _notes(session: Session, prefix: str) -> dict[str, str]:
    return dict(session.rows("list_notes", (prefix,)))


class SqliteNotes:
    """See `store.protocol.Notes`."""

    notes = reads(_notes)
    keep_note = writes(_keep)
    put_note = writes(_put)
