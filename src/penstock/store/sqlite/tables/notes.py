"""Small texts by name."""

from __future__ import annotations

from penstock.store.rows.access import AuditRow
from penstock.store.sqlite.session import Session
from penstock.store.sqlite.tables.audit_log import note_one
from penstock.store.sqlite.writer import Writer


class SqliteNotes:
    """See `store.protocol.Notes`."""

    _writer: Writer

    async def notes(self, prefix: str) -> dict[str, str]:
        return await self._writer.read(lambda session: dict(session.rows("list_notes", (prefix,))))

    async def keep_note(self, name: str, text: str) -> str:
        return await self._writer.write(lambda session: _keep(session, name, text))

    async def put_note(self, name: str, text: str | None, audit: AuditRow | None = None) -> bool:
        return await self._writer.write(lambda session: _put(session, name, text, audit))


def _keep(session: Session, name: str, text: str) -> str:
    session.run("keep_note", (name, text))
    found = session.row("read_note", (name,))
    assert found is not None
    return str(found[0])


def _put(session: Session, name: str, text: str | None, audit: AuditRow | None) -> bool:
    was = session.row("read_note", (name,)) is not None
    if text is None:
        session.run("drop_note", (name,))
    else:
        session.run("put_note", (name, text))
    if was or text is not None:
        note_one(session, audit)
    return was
