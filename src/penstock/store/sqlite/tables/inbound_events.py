"""Outside events on their way to a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import PendingEvent, Seen
from penstock.store.rules.lock_grants import first_owner
from penstock.store.sqlite.commit.lock_grants import (
    drop_pending,
    insert_messages,
    insert_pending,
    note_seen,
    owners_of,
)
from penstock.store.sqlite.session import Session
from penstock.store.sqlite.tables.audit_log import note_one


def find(session: Session, keys: Sequence[tuple[str, str]]) -> str | None:
    """See `Store.find`."""
    return first_owner(owners_of(session, keys), keys)


def keep(session: Session, kept: PendingEvent) -> str | None:
    """See `Store.keep`. An event that is not kept leaves no trace: its run will note the id itself."""
    if kept.seen is not None and _came(session, kept.seen):
        return ""
    owner = first_owner(owners_of(session, kept.keys), kept.keys)
    if owner is not None:
        return owner
    note_seen(session, kept)
    insert_pending(session, kept)
    return None


def seen(session: Session, ids: Sequence[Seen]) -> list[bool]:
    """See `Store.seen`."""
    return [_came(session, one) for one in ids]


def _came(session: Session, one: Seen) -> bool:
    return session.row("seen_there", (one.scope, one.id, session.now)) is not None


def redeliver(session: Session, id: int, audit: AuditRow | None) -> bool:
    """See `Store.redeliver`."""
    body = session.row("kept_body", (id,))
    keys = [(name, value) for name, value in session.rows("kept_keys", (id,))]
    owner = first_owner(owners_of(session, keys), keys)
    if body is None or owner is None:
        return False
    drop_pending(session, id)
    insert_messages(session, [(owner, body[0])], timedelta(0))  # whoever looks first: the caller is not told
    note_one(session, audit)
    return True


def drop(session: Session, id: int, audit: AuditRow | None) -> bool:
    """See `Store.drop`."""
    if session.row("kept_body", (id,)) is None:
        return False
    drop_pending(session, id)
    note_one(session, audit)
    return True
