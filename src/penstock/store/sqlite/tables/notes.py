"""Small texts by name."""

from __future__ import annotations

from penstock.store.rows.access import AuditRow
from penstock.store.sqlite.session import Session, reads, writes
from penstock.store.sqlite.tables.audit_log import note_one


def _put(
    session: Session, name: str, text: str | None, audit: AuditRow | None = None, *, replace: bool = True
) -> str | None:
    found = session.row("read_note", (name,))
    was: str | None = found[0] if found else None
    if was is not None and not replace:
        return was
    if text is None:
        session.run("drop_note", (name,))
    else:
        session.run("put_note", (name, text))
    if was is not None or text is not None:
        note_one(session, audit)
    return was


def _notes(session: Session, prefix: str) -> dict[str, str]:
    return dict(session.rows("list_notes", (prefix,)))


class SqliteNotes:
    """See `store.protocol.Notes`."""

    notes = reads(_notes)
    put_note = writes(_put)
