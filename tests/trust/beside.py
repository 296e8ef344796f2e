"""Who looks at the rows of a store, and meddles with them, without the help of the store itself."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import apsw
import asyncpg

from penstock.store.open import is_shared

Tables = dict[str, list[tuple[Any, ...]]]


class Beside(Protocol):
    """Another connection to the same database."""

    async def tables(self) -> Tables:
        """All rows of all tables as of one moment, in some order that stays."""
        ...

    async def sql(self, statement: str) -> None: ...

    async def fetch(self, statement: str) -> list[tuple[Any, ...]]: ...


class BesideFile:
    """On a SQLite file."""

    def __init__(self, path: str) -> None:
        self._db = apsw.Connection(path)
        self._db.set_busy_timeout(10_000)

    async def tables(self) -> Tables:
        return self.seen()

    def seen(self) -> Tables:
        """As `tables`, for who is not in a loop."""
        listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        self._db.execute("BEGIN")
        try:
            names = [str(name) for (name,) in self._db.execute(listed)]
            return {name: sorted(self._db.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names}
        finally:
            self._db.execute("COMMIT")

    async def sql(self, statement: str) -> None:
        self._db.execute(statement)

    async def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        return list(self._db.execute(statement))

    async def close(self) -> None:
        self._db.close()


class BesideServer:
    """On PostgreSQL."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._asked: str | None = None

    async def tables(self) -> Tables:
        """One statement, which is one moment; rows are texts here."""
        if self._asked is None:
            listed = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            self._names = [row["tablename"] for row in await self.connection.fetch(listed)]
            each = [f"SELECT '{name}', whole::text FROM \"{name}\" whole" for name in self._names]
            self._asked = " UNION ALL ".join(each)
        found: Tables = {name: [] for name in self._names}
        for name, row in await self.connection.fetch(self._asked):
            found[name].append((row,))
        return {name: sorted(rows) for name, rows in found.items()}

    async def sql(self, statement: str) -> None:
        await self.connection.execute(statement)

    async def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in await self.connection.fetch(statement)]

    async def end(self, process: int) -> None:
        """End a process of the server, and wait until it has gone."""
        await self.connection.execute("SELECT pg_terminate_backend($1, 5000)", process)

    async def end_others(self) -> None:
        """The same with all processes that serve this database but our own."""
        others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> $1"
        for row in await self.connection.fetch(others, self.connection.get_server_pid()):
            await self.end(row["pid"])

    async def close(self) -> None:
        await self.connection.close()


@asynccontextmanager
async def beside(url: str) -> AsyncIterator[Beside]:
    """Look at the store at an address, while others work on it."""
    if is_shared(url):
        made: BesideFile | BesideServer = BesideServer(await asyncpg.connect(url))
    else:
        made = BesideFile(url)
    try:
        yield made
    finally:
        await made.close()


def digest(tables: Tables, but: Callable[[str], bool] = lambda name: False) -> dict[str, str]:
    """Table → a hash of its rows; without those that `but` names."""
    return {
        name: hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
        for name, rows in sorted(tables.items())
        if not but(name)
    }


def counts(tables: Tables) -> dict[str, int]:
    """Table → how many rows."""
    return {name: len(rows) for name, rows in sorted(tables.items())}
