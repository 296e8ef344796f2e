"""The reference model's doors: tokens, sessions, secrets and the audit, said plainly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from msgspec.structs import replace

from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    Audited,
    AuditHead,
    AuditPage,
    AuditRow,
    Login,
    NewSession,
    SecretRow,
    SessionRow,
)
from penstock.store.rows.audit_chain import START, chained


class DoorRows:
    """Everything that is stored."""

    def __init__(self) -> None:
        self.tokens: dict[str, AccessTokenRow] = {}
        self.sessions: dict[bytes, SessionRow] = {}
        self.logins: dict[bytes, tuple[Login, datetime]] = {}
        self.secrets: dict[str, SecretRow] = {}
        self.audits: list[Audited] = []


class ModelAccess:
    """See `store.protocol.AccessStore`."""

    clock: Callable[[], datetime]

    @cached_property
    def doors(self) -> DoorRows:
        return DoorRows()

    def _record(self, *audits: AuditRow | None) -> None:
        rows = [audit for audit in audits if audit is not None]
        self.doors.audits += chained(self._head(), self.clock(), rows)

    def _head(self) -> AuditHead:
        return (
            AuditHead(self.doors.audits[-1].number, self.doors.audits[-1].hash)
            if self.doors.audits
            else START
        )

    async def add_access_token(self, token: AccessToken, audit: AuditRow | None = None) -> bool:
        if token.id in self.doors.tokens:
            return False
        self.doors.tokens[token.id] = AccessTokenRow(
            token=token, made_at=self.clock(), used_at=None, revoked_at=None, state="live"
        )
        self._record(audit)
        return True

    def _state(self, row: AccessTokenRow) -> Literal["live", "expired", "revoked"]:
        if row.revoked_at is not None:
            return "revoked"
        expires = row.token.expires_at
        return "expired" if expires is not None and expires <= self.clock() else "live"

    async def access_tokens(
        self, ids: Sequence[str] | None = None, *, before: str | None = None, limit: int = 0
    ) -> list[AccessTokenRow]:
        if ids is None:
            known = (id for id in self.doors.tokens if before is None or id < before)
            ids = sorted(known, reverse=True)[:limit]
        rows = [self.doors.tokens[id] for id in ids if id in self.doors.tokens]
        return [replace(row, state=self._state(row)) for row in rows]

    async def revoke_access_token(self, id: str, audit: AuditRow | None = None) -> bool:
        row = self.doors.tokens.get(id)
        if row is None or row.revoked_at is not None:
            return False
        self.doors.tokens[id] = replace(row, revoked_at=self.clock())
        self._record(audit)
        return True

    async def note_use(
        self, apart: timedelta, *, tokens: Sequence[str] = (), sessions: Sequence[bytes] = ()
    ) -> None:
        for id in self.doors.tokens.keys() & set(tokens):
            row = self.doors.tokens[id]
            if row.used_at is None or row.used_at <= self.clock() - apart:
                self.doors.tokens[id] = replace(row, used_at=self.clock())
        for digest in self.doors.sessions.keys() & set(sessions):
            seen = self.doors.sessions[digest]
            if seen.seen_at <= self.clock() - apart:
                self.doors.sessions[digest] = replace(seen, seen_at=self.clock())

    async def add_session(
        self,
        session: NewSession,
        lasts: timedelta,
        instead: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> None:
        now, sessions = self.clock(), self.doors.sessions
        for digest in [digest for digest, row in sessions.items() if row.until <= now or digest == instead]:
            del sessions[digest]
        sessions[session.digest] = SessionRow(session=session, made_at=now, seen_at=now, until=now + lasts)
        self._record(audit)

    async def session(self, digest: bytes, idle: timedelta) -> SessionRow | None:
        row, now = self.doors.sessions.get(digest), self.clock()
        return row if row is not None and row.until > now and row.seen_at > now - idle else None

    async def drop_sessions(
        self, digests: Sequence[bytes], names: Sequence[str] = (), audit: AuditRow | None = None
    ) -> int:
        sessions = self.doors.sessions
        gone = [d for d, row in sessions.items() if d in digests or row.session.name in names]
        for digest in gone:
            del sessions[digest]
        self._record(audit if gone else None)
        return len(gone)

    async def add_login(self, login: Login, lasts: timedelta) -> None:
        now, logins = self.clock(), self.doors.logins
        self.doors.logins = {digest: row for digest, row in logins.items() if row[1] > now}
        self.doors.logins[login.digest] = (login, now + lasts)

    async def take_login(self, digest: bytes) -> Login | None:
        login, until = self.doors.logins.pop(digest, (None, self.clock()))
        return login if until > self.clock() else None

    async def put_secret(
        self,
        name: str,
        key_id: str,
        sealed: bytes,
        known: Sequence[str] = (),
        audit: AuditRow | None = None,
        *,
        was: bytes | None = None,
    ) -> SecretRow | None:
        if was is not None:
            return self._reseal(name, was, key_id, sealed)
        keys = {row.key_id for row in self.doors.secrets.values()}
        if keys and (key_id not in keys or not keys <= set(known)):
            return None
        old = self.doors.secrets.get(name)
        made = SecretRow(
            name=name,
            version=old.version + 1 if old else 1,
            key_id=key_id,
            sealed=sealed,
            updated_at=self.clock(),
        )
        self.doors.secrets[name] = made
        self._record(audit)
        return made

    async def secret_keys(self) -> dict[str, str]:
        keys = {row.key_id for row in self.doors.secrets.values()}
        rows = {key: [row for row in self.doors.secrets.values() if row.key_id == key] for key in keys}
        return {
            key: repr(sorted((row.name, row.version, row.updated_at) for row in rows[key])) for key in keys
        }

    async def secrets(
        self, names: Sequence[str] | None = None, *, after: str = "", limit: int = 0
    ) -> list[SecretRow]:
        rows = [row for name, row in sorted(self.doors.secrets.items())]
        if names is not None:
            return [row for row in rows if row.name in names]
        return [row for row in rows if row.name > after][:limit]

    def _reseal(self, name: str, was: bytes, key_id: str, sealed: bytes) -> SecretRow | None:
        row = self.doors.secrets.get(name)
        if row is None or row.sealed != was:
            return None
        made = self.doors.secrets[name] = replace(row, key_id=key_id, sealed=sealed)
        return made

    async def drop_secret(self, name: str, audit: AuditRow | None = None) -> bool:
        if self.doors.secrets.pop(name, None) is None:
            return False
        self._record(audit)
        return True

    async def record(self, audits: Sequence[AuditRow]) -> None:
        self._record(*audits)

    async def audits(self, limit: int, *, after: int | None = None, before: int | None = None) -> AuditPage:
        if after is not None:
            found = [entry for entry in self.doors.audits if entry.number > after]
        else:
            found = [one for one in reversed(self.doors.audits) if before is None or one.number < before]
        return AuditPage(found[:limit], self._head())
