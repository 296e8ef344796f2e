"""Backups: all tables in one file, as of one moment, and back into an empty database.

The file is gzip: a line of JSON with the schema, then for each table a line of JSON with its name and columns, and
its rows as PostgreSQL's own binary COPY, in pieces that each have their length before them; an empty one ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

import msgspec

from penstock.store.errors import StoreDamaged, StoreError, StoreUnavailable, disk_error
from penstock.store.postgres.database import Database, Work
from penstock.store.sql.backup_files import written_whole

TABLES = (
    *("run", "history", "part", "payload", "task", "timer", "message", "lock"),
    *("correlation", "kept", "kept_key"),
    *("seen", "start_key", "workflow", "version", "log", "worker", "setting", "draft"),
    *("access_token", "session", "login", "secret", "audit"),
    *("run_label", "run_key", "rest", "token", "timing", "approval", "outbox"),
)
_SIZE = 8
SQLITE = b"SQLite format 3\0"
"""How a backup of SQLite begins."""
T = TypeVar("T")


class Heading(msgspec.Struct, frozen=True):
    """The first line."""

    penstock: str
    schema: int


class Title(msgspec.Struct, frozen=True):
    """The line before a table."""

    table: str
    columns: list[str]


async def write_backup(database: Database, to: str) -> None:
    """Copy everything into a new file, while everything goes on. The file is there whole, or not at all."""
    # What people kept and who may come in is in it: nobody but its owner may read it.
    with (
        written_whole(to) as part,
        open(part, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file,
    ):
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as out:
            await database.transact(
                lambda work: _write(work, Writer(out)), changes=False, isolation="repeatable_read"
            )
        file.flush()
        os.fsync(file.fileno())


class Writer:
    """A backup that is written. Raises StoreFull or StoreFailing: not as if the database were away."""

    def __init__(self, out: gzip.GzipFile) -> None:
        self._out = out

    def line(self, value: msgspec.Struct) -> None:
        self._write(msgspec.json.encode(value) + b"\n")

    async def piece(self, piece: bytes) -> None:
        """The next piece of a table."""
        if piece:
            await asyncio.to_thread(self._write, len(piece).to_bytes(_SIZE) + piece)

    def end(self) -> None:
        """The table is whole."""
        self._write((0).to_bytes(_SIZE))

    def _write(self, data: bytes) -> None:
        try:
            self._out.write(data)
        except OSError as error:
            raise disk_error(error) from error


async def _write(work: Work, out: Writer) -> None:
    schema = int(await work.value("read_setting", name="schema"))
    out.line(Heading("backup of PostgreSQL", schema))
    for table in TABLES:
        names = [row["column_name"] for row in await work.rows("columns_of_table", name=table)]
        out.line(Title(table, names))
        try:
            await work.connection.copy_from_table(
                table, output=out.piece, columns=names, format="binary", timeout=3600
            )
        except StoreUnavailable:
            # In the middle of a table the server goes on sending: a rollback would wait for it in vain.
            work.connection.terminate()
            raise
        out.end()


async def read_backup(database: Database, source: str) -> None:
    """Fill a database that has the schema and no run. Raises StoreDamaged where the file is not whole."""
    with Reader(source) as file:
        await database.transact(lambda work: _read(work, source, file))


class Reader:
    """A backup that is read. Raises StoreDamaged where it is not whole: not as if the database were away."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __enter__(self) -> Reader:
        with self._translated():
            self._file = gzip.open(self.source, "rb")
            with open(self.source, "rb") as file:
                if file.read(len(SQLITE)) == SQLITE:
                    raise StoreError(
                        f"'{self.source}' is a backup of SQLite and cannot be restored into PostgreSQL; nothing was "
                        f"changed: restore it into a file with `penstock db restore {self.source} --db penstock.db`"
                    )
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def rewind(self) -> None:
        with self._translated():
            self._file.seek(0)

    def line(self, kind: type[T]) -> T:
        """The next line."""
        with self._translated():
            return msgspec.json.decode(self._file.readline(), type=kind)

    def piece(self) -> bytes:
        """The next piece of a table; empty at its end."""
        with self._translated():
            head = self._file.read(_SIZE)
            piece = self._file.read(int.from_bytes(head))
            if len(head) < _SIZE or len(piece) < int.from_bytes(head):
                raise EOFError("it ends too early")
            return piece

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error, msgspec.MsgspecError) as error:
            raise StoreDamaged(self.source, f"this backup cannot be read: {error}") from error


async def _read(work: Work, source: str, file: Reader) -> None:
    file.rewind()
    heading = file.line(Heading)
    schema = int(await work.value("read_setting", name="schema"))
    if heading.schema != schema:
        raise StoreError(
            f"'{source}' has schema {heading.schema}, this Penstock has {schema}: restore it with its own version"
        )
    if await work.value("any_run"):
        raise StoreError("a backup is restored into an empty database only: make a new one")
    await work.rows("drop_settings")
    for _ in TABLES:
        title = file.line(Title)
        if title.table not in TABLES:
            raise StoreDamaged(source, f"this backup names a table '{title.table}'")
        await work.connection.copy_to_table(
            title.table, source=_pieces(file), columns=title.columns, format="binary", timeout=3600
        )
    for table, column in await work.rows("identities", tables=TABLES):
        await work.rows("raise_identity", table=table, column=column)
    await work.rows("raise_fences")


async def _pieces(file: Reader) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.piece):
        yield piece
