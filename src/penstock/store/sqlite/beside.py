"""Beside the process that has a file: looking through it and copying it, while that process goes on."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

import apsw

from penstock.store.sqlite import upkeep
from penstock.store.sqlite.connection import Options, found_schema, open_reader
from penstock.store.sqlite.desk import look, told
from penstock.store.sqlite.session import Numbers, Session
from penstock.store.sqlite.times import micros


class Beside:
    """A connection that never writes: whoever has the file is not disturbed."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._db = open_reader(path, Options())
        except apsw.Error as error:
            raise told(error, path) from error

    async def check(self) -> list[str]:
        """See `Store.check`."""
        session = Session(self._db, Numbers(), micros(datetime.now(UTC)))
        return await asyncio.to_thread(look, self._db, lambda db: upkeep.check(db, session), self.path)

    async def backup(self, to: str) -> None:
        """See `Store.backup`."""
        await asyncio.to_thread(look, self._db, lambda db: upkeep.backup(db, to), self.path)

    async def facts(self) -> dict[str, object]:
        """See `Store.facts`."""
        return {"path": self.path, "schema": found_schema(self._db), "bytes": os.path.getsize(self.path)}

    async def close(self) -> None:
        self._db.close()
