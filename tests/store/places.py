"""Where a store lies while it is tested: its time can be moved, and its rows counted from outside."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg

from penstock.store.open import open_store
from penstock.store.postgres.store import PostgresStore
from penstock.store.protocol import Store
from tests.postgres_server import PostgresServer
from tests.store.builders import NOON
from tests.store.model_views import Model


class Hand:
    """The hand of a clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at


class Place(Protocol):
    """One kind of store, empty at the beginning of each test."""

    store: Store
    other: Store  # another node of the same installation, where there can be one

    async def begin(self) -> None: ...

    async def move(self, by: timedelta) -> datetime:
        """Let time pass; the store's time then."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many rows each table has."""
        ...

    async def sql(self, statement: str) -> None:
        """Meddle with the rows behind the store's back."""
        ...

    async def end(self) -> None: ...


class ModelPlace:
    """The reference model: it must keep the rules that the stores keep."""

    def __init__(self) -> None:
        self.hand = Hand()
        self.model = Model(self.hand.now)
        self.store: Store = self.model
        self.other: Store = self.model

    async def begin(self) -> None:
        self.hand = Hand()
        self.model = Model(self.hand.now)
        self.store, self.other = self.model, self.model

    async def move(self, by: timedelta) -> datetime:
        self.hand.at += by
        return self.hand.at

    async def counts(self) -> dict[str, int]:
        return self.model.tables()

    async def sql(self, statement: str) -> None:
        raise NotImplementedError

    async def end(self) -> None:
        return None


class SqlitePlace:
    """A file of its own."""

    def __init__(self, url: str) -> None:
        self.hand, self.url = Hand(), url

    async def begin(self) -> None:
        self.store: Store = await open_store(self.url, clock=self.hand)
        self.other: Store = self.store

    async def move(self, by: timedelta) -> datetime:
        self.hand.at += by
        return self.hand.at

    async def counts(self) -> dict[str, int]:
        file = apsw.Connection(self.url, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            names = [str(name) for (name,) in file.execute(listed)]
            return {name: int(file.execute(f'SELECT count(*) FROM "{name}"').get) for name in names}
        finally:
            file.close()

    async def sql(self, statement: str) -> None:
        file = apsw.Connection(self.url)
        try:
            file.set_busy_timeout(5000)
            file.execute(statement)
        finally:
            file.close()

    async def end(self) -> None:
        await self.store.close()


SET_CLOCK = """
CREATE TABLE test_clock (at timestamptz NOT NULL);
INSERT INTO test_clock SELECT now();
CREATE OR REPLACE FUNCTION penstock_now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM test_clock';
"""
"""A clock that stands still: a table, since a new function would make every plan anew."""


class PostgresPlace:
    """A database that is emptied before each test: a new one each time would take longer than the test."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.at = NOON

    async def open(self) -> None:
        self.url = self.server.create_database()
        self.store: Store = await PostgresStore.open(self.url)
        self.other: Store = await PostgresStore.open(self.url)
        self.raw = await asyncpg.connect(self.url)
        name = await self.raw.fetchval("SELECT current_database()")
        await self.raw.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        await self.raw.execute("SET synchronous_commit = off")
        self.tables = [
            row["relname"]
            for row in await self.raw.fetch(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = "
                "current_schema()::regnamespace ORDER BY relname"
            )
        ]
        await self.raw.execute(SET_CLOCK)
        self.settings: list[Any] = await self.raw.fetch("SELECT * FROM setting")

    async def begin(self) -> None:
        await self.raw.execute("; ".join(f'DELETE FROM "{name}"' for name in self.tables))
        for row in self.settings:
            places = ", ".join(f"${n + 1}" for n in range(len(row)))
            await self.raw.execute(f"INSERT INTO setting VALUES ({places})", *row.values())
        self.at = NOON
        await self.move(timedelta())

    async def move(self, by: timedelta) -> datetime:
        self.at += by
        await self.raw.execute("UPDATE test_clock SET at = $1", self.at)
        return self.at

    async def counts(self) -> dict[str, int]:
        return {name: await self.raw.fetchval(f'SELECT count(*) FROM "{name}"') for name in self.tables}

    async def sql(self, statement: str) -> None:
        await self.raw.execute(statement)

    async def end(self) -> None:
        return None

    async def close(self) -> None:
        await self.raw.close()
        await self.other.close()
        await self.store.close()


class SqliteFile(SqlitePlace):
    """A new file in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "penstock.db"))
