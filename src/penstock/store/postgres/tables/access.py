"""Tokens, sessions and roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import changed, note_one
from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    AuditRow,
    Login,
    NewSession,
    SessionRow,
)
from penstock.store.sql.index_scans import LAST


class PostgresAccess:
    """See `store.protocol.AccessStore`."""

    database: Database

    async def add_access_token(self, token: AccessToken, audit: AuditRow | None = None) -> bool:
        return await changed(self.database, "insert_access_token", audit, **asdict(token))

    async def access_tokens(
        self, ids: Sequence[str] | None = None, *, before: str | None = None, limit: int = 0
    ) -> list[AccessTokenRow]:
        if ids is not None:
            return [_token(row) for id in ids for row in await self.database.read("one_access_token", id=id)]
        first = LAST if before is None else before
        return [
            _token(row) for row in await self.database.read("list_access_tokens", before=first, limit=limit)
        ]

    async def revoke_access_token(self, id: str, audit: AuditRow | None = None) -> bool:
        return await changed(self.database, "revoke_access_token", audit, id=id)

    async def note_use(
        self, apart: timedelta, *, tokens: Sequence[str] = (), sessions: Sequence[bytes] = ()
    ) -> None:
        if tokens:
            await self.database.rows("use_access_token", ids=list(tokens), apart=apart)
        if sessions:
            await self.database.rows("use_session", digests=list(sessions), apart=apart)

    async def add_session(
        self,
        session: NewSession,
        lasts: timedelta,
        instead: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> None:
        async def work(work: Work) -> None:
            await work.rows("drop_outdated_sessions")
            if instead is not None:
                await work.rows("drop_session", digests=[instead])
            await work.rows("insert_session", lasts=lasts, **asdict(session))
            await note_one(work, audit)

        await self.database.transact(work)

    async def session(self, digest: bytes, idle: timedelta) -> SessionRow | None:
        found = await self.database.read("one_session", digest=digest, idle=idle)
        return _session(found[0]) if found else None

    async def drop_sessions(
        self, digests: Sequence[bytes], names: Sequence[str] = (), audit: AuditRow | None = None
    ) -> int:
        async def work(work: Work) -> int:
            gone = await work.rows("drop_session", digests=list(digests))
            gone += await work.rows("drop_sessions_of_name", names=list(names))
            if gone:
                await note_one(work, audit)
            return len(gone)

        return await self.database.transact(work)

    async def add_login(self, login: Login, lasts: timedelta) -> None:
        async def work(work: Work) -> None:
            await work.rows("drop_outdated_logins")
            await work.rows("insert_login", lasts=lasts, **asdict(login))

        await self.database.transact(work)

    async def take_login(self, digest: bytes) -> Login | None:
        found = await self.database.rows("take_login", digest=digest)
        if not found or not found[0]["live"]:
            return None
        return convert(dict(found[0]), Login)


def _token(row: Any) -> AccessTokenRow:
    return convert({**row, "token": dict(row)}, AccessTokenRow)


def _session(row: Any) -> SessionRow:
    return convert({**row, "session": dict(row)}, SessionRow)
