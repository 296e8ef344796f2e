"""Restores a backup: never over a database that has data, and never by halves."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import apsw

from penstock.store.errors import StoreError
from penstock.store.sql.backup_files import remove_copy, sync_folder
from penstock.store.sqlite.connection import MIGRATIONS, found_schema
from penstock.store.sqlite.errors import store_error
from penstock.store.sqlite.files import FileLock, make_private, validate_path
from penstock.store.sqlite.session import micros

GZIP = b"\x1f\x8b"
"""How a backup of PostgreSQL begins."""

FENCES = """
INSERT INTO setting (name, value)
SELECT 'fence', max(:now, (SELECT COALESCE(max(fence), 0) + 1000000 FROM task),
                    COALESCE((SELECT value + 1000000 FROM setting WHERE name = 'fence'), 0))
 WHERE true  -- or ON would be taken for that of a join
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
UPDATE task SET fence = (SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'fence');
"""
"""Workers may still hold leases of the time after the backup, or of an earlier restore of it: theirs must not be taken
for ours. So all fences go on from the time, in microseconds: more leases than those no task has had."""


def restore(path: str, source: str) -> str | None:
    """Make a database of a backup. Answers where a damaged or empty file was moved to that was in its place.

    Raises StoreBusy, and StoreError where the backup is not whole or the database holds something.
    """
    _look_at_places(path, source)
    lock = FileLock(path)
    try:
        part = Path(f"{path}.part")
        remove_copy(str(part))
        try:
            if holds_something(path):
                raise StoreError(
                    f"'{path}' holds workflows or runs, and a backup does not replace them: name another file"
                )
            _copy(source, part)
            moved = _move_away(path)
            part.rename(path)
            sync_folder(path)
        finally:
            remove_copy(str(part))
    except BaseException:
        lock.remove()
        raise
    lock.release()
    return moved


def _look_at_places(path: str, source: str) -> None:
    if not os.path.isfile(source):
        raise StoreError(f"there is no backup '{source}': look at its name")
    validate_path(path)
    if os.path.exists(path) and os.path.samefile(path, source):
        raise StoreError(f"'{source}' is the database itself: name a backup of it")


def holds_something(path: str) -> bool:
    """Whether a file has workflows or runs that can be read; one that is not there or damaged has none."""
    if not os.path.exists(path):
        return False
    db = apsw.Connection(path)
    try:
        if not found_schema(db):
            others = db.execute("SELECT 1 FROM sqlite_schema").fetchone()
            if others is not None:
                raise StoreError(f"'{path}' is a database of another program: name another file")
            return False
        if _faults(db):
            return False
        found = db.execute("SELECT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM version)").fetchone()
        return bool(found and found[0])
    except (apsw.CorruptError, apsw.NotADBError):
        return False
    except apsw.Error as error:
        raise store_error(error, path) from error
    finally:
        db.close()


def _faults(db: apsw.Connection) -> str:
    """What is wrong with a file; "" where it is whole."""
    [line] = [str(line) for (line,) in db.execute("PRAGMA integrity_check(1)")]
    return "" if line == "ok" else line


def _copy(source: str, part: Path) -> None:
    """A whole copy under another name, on the disk. Raises StoreError where the backup is not whole."""
    try:
        db = apsw.Connection(source, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            faults, schema = _faults(db), found_schema(db)
            if faults or not 0 < schema <= len(MIGRATIONS):
                raise _unusable(
                    source, faults or f"its schema is {schema}, this Penstock knows {len(MIGRATIONS)}"
                )
            make_private(str(part))
            db.execute("VACUUM INTO ?", (str(part),))
        finally:
            db.close()
        _raise_fences(part)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        if _begins(source) == GZIP:
            raise _unusable(source, "it is one of PostgreSQL: give its address with --db") from error
        raise _unusable(source, str(error)) from error
    except apsw.Error as error:
        raise store_error(error, str(part)) from error


def _begins(source: str) -> bytes:
    with open(source, "rb") as file:
        return file.read(len(GZIP))


def _raise_fences(part: Path) -> None:
    db = apsw.Connection(str(part))
    try:
        db.execute(FENCES, {"now": micros(datetime.now(UTC))})
    finally:
        db.close()
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _unusable(source: str, why: str) -> StoreError:
    return StoreError(
        f"'{source}' is no backup that can be restored ({why}); nothing was changed: use another one"
    )


def _move_away(path: str) -> str | None:
    """What is in its place is kept under another name, with its log: a log left behind would spoil the new file."""
    if not os.path.exists(path):
        return None
    number = 1
    while os.path.exists(f"{path}.before-{number}"):
        number += 1
    aside = f"{path}.before-{number}"
    for end in ("-wal", "-shm", ""):
        if os.path.exists(f"{path}{end}"):
            os.rename(f"{path}{end}", f"{aside}{end}")
    return aside
