"""Reads and copies the file of a running process."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from typing import Any

import apsw

from penstock.store.rows.access import AuditPage
from penstock.store.sqlite.connection import Options, found_schema, open_reader
from penstock.store.sqlite.errors import store_error
from penstock.store.sqlite.session import Numbers, Result, Session, Work, micros
from penstock.store.sqlite.tables import audit_log, maintenance
from penstock.store.sqlite.tables.secrets import secret_keys
from penstock.store.sqlite.transaction_runner import look


class Observer:
    """A connection that never writes: whoever has the file is not disturbed."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._db = open_reader(path, Options())
        except apsw.Error as error:
            raise store_error(error, path) from error

    async def check(self) -> list[str]:
        """See `Store.check`."""
        return await self._read(lambda session: maintenance.check(self._db, session))

    async def backup(self, to: str) -> None:
        """See `Store.backup`."""
        await asyncio.to_thread(look, self._db, lambda db: maintenance.backup(db, to), self.path)

    async def audits(self, limit: int, *, after: int | None = None, before: int | None = None) -> AuditPage:
        """See `Store.audits`."""
        return await self._read(lambda session: audit_log.audits(session, limit, after=after, before=before))

    async def secret_keys(self) -> dict[str, str]:
        """See `Store.secret_keys`."""
        return await self._read(secret_keys)

    async def facts(self) -> dict[str, Any]:
        """See `Store.facts`."""
        return {"path": self.path, "schema": found_schema(self._db), "bytes": os.path.getsize(self.path)}

    async def close(self) -> None:
        self._db.close()

    async def _read(self, work: Work[Result]) -> Result:
        session = Session(self._db, Numbers(), micros(datetime.now(UTC)))
        return await asyncio.to_thread(look, session, work, self.path)
