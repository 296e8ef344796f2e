"""Tokens, sessions and roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    AuditRow,
    Login,
    NewSession,
    SessionRow,
)
from penstock.store.sql.index_scans import LAST
from penstock.store.sqlite.session import (
    NEVER,
    Row,
    Session,
    json_list,
    length,
    micros,
    moment,
    moment_or_none,
    reads,
    struct,
    writes,
)
from penstock.store.sqlite.tables import audit_log


def _names(names: Sequence[str] | None) -> str | None:
    return None if names is None else json_list(names)


def _named(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else msgspec.json.decode(text, type=tuple[str, ...])


def _use(
    session: Session, apart: timedelta, *, tokens: Sequence[str] = (), sessions: Sequence[bytes] = ()
) -> None:
    before = session.now - length(apart)
    session.many("use_access_token", [(session.now, id, before) for id in tokens])
    session.many("use_session", [(session.now, digest, before) for digest in sessions])


def _add_token(session: Session, token: AccessToken, audit: AuditRow | None = None) -> bool:
    scopes = (_names(token.workflows), _names(token.task_lists), token.concurrency)
    expires = NEVER if token.expires_at is None else micros(token.expires_at)
    row = (token.id, token.role, token.name, token.digest, *scopes, expires, token.made_by, session.now)
    return audit_log.changed(session, "insert_access_token", row, audit)


def _tokens(
    session: Session, ids: Sequence[str] | None = None, *, before: str | None = None, limit: int = 0
) -> list[AccessTokenRow]:
    if ids is not None:
        rows = [row for id in ids for row in session.rows("one_access_token", (id,))]
    else:
        rows = session.rows("list_access_tokens", (LAST if before is None else before, limit))
    return [_token(row, session.now) for row in rows]


def _token(row: Row, now: int) -> AccessTokenRow:
    said, (made, used, revoked), expires = row[:9], row[9:], row[7]
    state = "revoked" if revoked is not None else "expired" if expires <= now else "live"
    lists = {"workflows": _named, "task_lists": _named}
    token = struct(AccessToken, said, expires_at=moment_or_none, **lists)
    row = (token, made, used, revoked, state)
    return struct(AccessTokenRow, row, made_at=moment, used_at=moment_or_none, revoked_at=moment_or_none)


def _revoke(session: Session, id: str, audit: AuditRow | None = None) -> bool:
    return audit_log.changed(session, "revoke_access_token", (session.now, id), audit)


def _add_session(
    work: Session,
    session: NewSession,
    lasts: timedelta,
    instead: bytes | None = None,
    audit: AuditRow | None = None,
) -> None:
    work.run("drop_outdated_sessions", (work.now,))
    if instead is not None:
        work.run("drop_session", (instead,))
    who = (session.digest, session.name, session.role, session.token_id, _names(session.workflows))
    work.run("insert_session", (*who, session.ip, work.now, work.now, work.now + length(lasts)))
    audit_log.note_one(work, audit)


def _session(work: Session, digest: bytes, idle: timedelta) -> SessionRow | None:
    row = work.row("one_session", (digest, work.now, work.now - length(idle)))
    if row is None:
        return None
    session = struct(NewSession, row[:6], workflows=_named)
    return struct(SessionRow, (session, *row[6:]), made_at=moment, seen_at=moment, until=moment)


def _drop_sessions(
    session: Session, digests: Sequence[bytes], names: Sequence[str] = (), audit: AuditRow | None = None
) -> int:
    gone = session.many("drop_session", [(digest,) for digest in digests])
    gone += session.many("drop_sessions_of_name", [(name,) for name in names])
    if gone:
        audit_log.note_one(session, audit)
    return gone


def _add_login(session: Session, login: Login, lasts: timedelta) -> None:
    session.run("drop_outdated_logins", (session.now,))
    until = session.now + length(lasts)
    session.run("insert_login", (login.digest, login.nonce, login.verifier, login.back_to, until))


def _take_login(session: Session, digest: bytes) -> Login | None:
    row = session.row_changed("take_login", (digest,))
    if row is None or row[4] <= session.now:
        return None
    return Login(digest=row[0], nonce=row[1], verifier=row[2], back_to=row[3])


class SqliteAccess:
    """See `store.protocol.AccessStore`."""

    add_access_token = writes(_add_token)
    access_tokens = reads(_tokens)
    revoke_access_token = writes(_revoke)
    note_use = writes(_use)
    add_session = writes(_add_session)
    session = reads(_session)
    drop_sessions = writes(_drop_sessions)
    add_login = writes(_add_login)
    take_login = writes(_take_login)
