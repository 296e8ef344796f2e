"""Opens the file: SQLite's settings, the schema, and whether the last stop was clean."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import apsw
from msgspec import Struct

from penstock.store.errors import NotLocal, StoreDamaged
from penstock.store.sql.backup_files import sync_folder
from penstock.store.sql.migrations import Migration, missing, read_migrations
from penstock.store.sqlite.errors import store_error
from penstock.store.sqlite.files import FileLock, file_system, is_network, make_private, validate_path
from penstock.store.sqlite.session import SQL
from penstock.store.sqlite.transaction_runner import BUSY_TIMEOUT, let_go

MIGRATIONS = read_migrations("penstock.store.sqlite")
SETTINGS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT}",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA temp_store = MEMORY",
)

MAX_PREPARED = 512
"""Statements that are kept prepared, the most that there can be. Each use of one, a row of `executemany` too, takes the
next place, and whoever had it must be prepared anew: with few places the long ones of a batch were every time."""


class Options(Struct, frozen=True, kw_only=True):
    """What an address or a test may ask for."""

    migrate: bool = True
    network: bool = False  # a network disk is allowed
    inline: bool = False  # one connection, no threads
    vfs: str | None = None
    synchronous: str = "FULL"  # less loses what was acknowledged, at a power cut: for tests only
    checkpoint: int = 4_000  # pages in the log before the writer folds them into the file
    warm_up: bool = False  # runs will follow: none of them waits while the log grows
    kind_of_disk: Callable[[str], str] = file_system
    migrations: tuple[Migration, ...] = MIGRATIONS


class Opened(Struct):
    """An open file: its writing connection, its lock, and whether it was looked through."""

    db: apsw.Connection
    lock: FileLock | None
    checked: bool

    def let_go(self) -> None:
        """Where nothing came of the opening: others may have the file."""
        let_go(self.db)
        if self.lock is not None:
            self.lock.release()


def open_file(path: str, options: Options) -> Opened:
    """The only writing connection of the only process. Raises what StoreError lists; nothing stays open then."""
    validate_path(path)
    kind = options.kind_of_disk(os.path.dirname(os.path.abspath(path)))
    if is_network(kind) and not options.network:
        raise NotLocal(path, kind)
    with contextlib.ExitStack() as undo:
        lock = FileLock(path)
        undo.callback(lock.remove)
        if options.vfs is None:
            make_private(path)
        try:
            db = open_writer(path, options)
            undo.callback(db.close)
            checked = _begin(db, path, options)
        except apsw.Error as error:
            raise store_error(error, path) from error
        undo.pop_all()
    return Opened(db, lock, checked)


def open_memory(options: Options) -> Opened:
    """A database that goes with the process."""
    db = apsw.Connection(":memory:")
    for setting in SETTINGS:
        db.execute(setting)
    migrate(db, options)
    return Opened(db, None, False)


def open_reader(path: str, options: Options) -> apsw.Connection:
    """A connection that never writes and never folds the log: two who do may lose each other's pages."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=options.vfs)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    for setting in (*SETTINGS, "PRAGMA wal_autocheckpoint = 0"):
        db.execute(setting).fetchall()
    return db


def open_writer(path: str, options: Options) -> apsw.Connection:
    """A connection that writes. Raises apsw.Error."""
    db = apsw.Connection(path, vfs=options.vfs, statementcachesize=MAX_PREPARED)
    try:
        for setting in (
            *SETTINGS,
            "PRAGMA auto_vacuum = INCREMENTAL",  # before the first table: later it has no effect
            "PRAGMA journal_mode = WAL",
            f"PRAGMA synchronous = {options.synchronous}",
            f"PRAGMA wal_autocheckpoint = {options.checkpoint}",
            "PRAGMA journal_size_limit = 67108864",
            "PRAGMA cache_size = -65536",
        ):
            db.execute(setting).fetchall()
    except apsw.Error:
        let_go(db)
        raise
    return db


def _begin(db: apsw.Connection, path: str, options: Options) -> bool:
    """Look through a file that was not closed, and bring its schema up to date; whether it was looked through."""
    new = found_schema(db) == 0
    unclean = not new and read_setting(db, "clean") != "yes"
    if unclean:
        check_whole(db, path)
    migrate(db, options)
    put_clean(db, False)
    if new:
        sync_folder(path)
    return unclean


def check_whole(db: apsw.Connection, path: str) -> None:
    """Raises StoreDamaged where the file is not whole."""
    found = [str(line) for (line,) in db.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise StoreDamaged(path, found[0])


def migrate(db: apsw.Connection, options: Options) -> None:
    """Bring the schema up to date, each step whole or not at all."""
    for step in missing(options.migrations, found_schema(db), options.migrate):
        with db:
            db.execute(step.sql)
            db.execute(SQL["put_setting"], ("schema", str(step.number)))


def put_clean(db: apsw.Connection, clean: bool) -> None:
    """Note that the file is in use, or that it was let go of in good order."""
    db.execute(SQL["put_setting"], ("clean", "yes" if clean else "no"))


def found_schema(db: apsw.Connection) -> int:
    """The number of the schema; 0 where there is none yet."""
    made = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'setting'").fetchone()
    return int(read_setting(db, "schema") or 0) if made else 0


def read_setting(db: apsw.Connection, name: str) -> str | None:
    """What a setting says; None where it was never made."""
    found = db.execute(SQL["read_setting"], (name,)).fetchone()
    return str(found[0]) if found else None
