"""The audit log: entries are only added, in the transaction that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple

from penstock.store.rows.access import Audited, AuditHead, AuditPage, AuditRow
from penstock.store.rows.audit_chain import chained, read_head, write_head
from penstock.store.sqlite.session import NEVER, Row, Session, micros, moment, reads, struct, writes


def audits(session: Session, limit: int, *, after: int | None = None, before: int | None = None) -> AuditPage:
    """See `Store.audits`."""
    end = head(session)
    if after is not None:
        rows = session.rows("next_audits", (after, limit))
    else:
        rows = session.rows("newest_audits", (NEVER if before is None else before, limit))
    return AuditPage([entry(row) for row in rows], end)


def note(session: Session, rows: Sequence[AuditRow]) -> None:
    """Add entries at the end of the chain."""
    if not rows:
        return
    entries = chained(head(session), moment(session.now), rows)
    columns = [(one.number, micros(one.at), *astuple(one.row), one.hash) for one in entries]
    session.many("insert_audit", columns)
    session.run("put_setting", ("audit", write_head(entries[-1])))


def note_one(session: Session, row: AuditRow | None) -> None:
    """Add an entry where there is one."""
    if row is not None:
        note(session, [row])


def changed(session: Session, query: str, values: Sequence[Any], audit: AuditRow | None) -> bool:
    """Whether a statement changed its row; the entry is written where it did."""
    changed = session.run(query, values) > 0
    if changed:
        note_one(session, audit)
    return changed


def head(session: Session) -> AuditHead:
    """Where the chain ends."""
    found = session.row("read_setting", ("audit",))
    return read_head(None if found is None else found[0])


def entry(row: Row) -> Audited:
    """An entry as it was written."""
    number, at, *said, hash = row
    return Audited(number=number, at=moment(at), row=struct(AuditRow, tuple(said)), hash=hash)


class SqliteAuditLog:
    """See `store.protocol.AuditLog`."""

    record = writes(note)
    audits = reads(audits)
