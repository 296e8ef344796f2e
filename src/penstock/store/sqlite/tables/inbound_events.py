"""Outside events on their way to a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import EventId, PendingEvent
from penstock.store.rows.rows import PendingEventRow
from penstock.store.rules.lock_grants import first_owner
from penstock.store.sqlite.commit.lock_grants import (
    drop_pending,
    insert_messages,
    insert_pending,
    note_seen,
    owners_of,
)
from penstock.store.sqlite.session import Session, moment, reads, writes
from penstock.store.sqlite.tables.audit_log import note_one


def _find(session: Session, keys: Sequence[tuple[str, str]]) -> str | None:
    return first_owner(owners_of(session, keys), keys)


def _keep(session: Session, pending_event: PendingEvent) -> str | None:
    """An event that is not kept leaves no trace: its run will note the id itself."""
    if pending_event.seen is not None and _came(session, pending_event.seen):
        return ""
    owner = first_owner(owners_of(session, pending_event.keys), pending_event.keys)
    if owner is not None:
        return owner
    note_seen(session, pending_event)
    insert_pending(session, pending_event)
    return None


def _seen(session: Session, ids: Sequence[EventId]) -> list[bool]:
    return [_came(session, one) for one in ids]


def _came(session: Session, one: EventId) -> bool:
    return session.row("seen_there", (one.scope, one.id, session.now)) is not None


def _settle(session: Session, id: int, *, deliver: bool, audit: AuditRow | None = None) -> bool:
    body = session.row("kept_body", (id,))
    if body is None:
        return False
    if deliver:
        keys = session.rows("kept_keys", (id,))
        owner = first_owner(owners_of(session, keys), keys)
        if owner is None:
            return False
        # Whoever looks first: the caller gets no hint.
        insert_messages(session, [(owner, body[0])], timedelta(0))
    drop_pending(session, id)
    note_one(session, audit)
    return True


def _undelivered(session: Session, after: int, limit: int) -> list[PendingEventRow]:
    return [
        PendingEventRow(
            id=id,
            event=event,
            keys=tuple((name, value) for name, value in session.rows("kept_keys", (id,))),
            body=body,
            reason=reason,
            at=moment(at),
            until=moment(until),
        )
        for id, event, body, reason, at, until in session.rows("list_kept", (after, session.now, limit))
    ]


def _refused(session: Session, limit: int) -> list[tuple[str, str, str, str]]:
    return session.rows("list_refused", (limit,))


class SqliteInboundEvents:
    """See `store.protocol.InboundEvents`."""

    find = reads(_find)
    keep = writes(_keep)
    seen = reads(_seen)
    settle = writes(_settle)
    undelivered = reads(_undelivered)
    refused = reads(_refused)
