"""Opening a file: who has it, where it lies, whether it is whole, and which schema it has."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from penstock.store.errors import (
    BadAddress,
    NeedsMigration,
    NewerSchema,
    NotLocal,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreRefused,
)
from penstock.store.open import open_store, restore_store, sqlite_path
from penstock.store.rows.rows import Filter
from penstock.store.sql.migrations import Migration
from penstock.store.sqlite import connection
from penstock.store.sqlite.connection import MIGRATIONS, Options
from penstock.store.sqlite.files import FileLock, file_system, is_network
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin, turn

NEXT = Migration(
    len(MIGRATIONS) + 1,
    "9999_more.sql",
    "ALTER TABLE run ADD COLUMN more TEXT; CREATE TABLE extra (id INTEGER)",
)


def make(path: Path, options: Options | None = None) -> None:
    asyncio.run(SqliteStore.open(str(path), options=options).close())


def schema(path: Path) -> list[tuple[object, ...]]:
    file = apsw.Connection(str(path))
    found = file.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    file.close()
    return found


def test_the_file_is_set_to_lose_nothing(tmp_path: Path) -> None:
    make(tmp_path / "a.db")

    file = apsw.Connection(str(tmp_path / "a.db"))
    assert (file.pragma("journal_mode"), file.pragma("auto_vacuum")) == ("wal", 2)
    file.close()
    facts = asyncio.run(_facts(tmp_path / "a.db"))
    assert (facts["kind"], facts["schema"], facts["synchronous"]) == ("sqlite", len(MIGRATIONS), "FULL")


async def _facts(path: Path) -> dict[str, object]:
    store = SqliteStore.open(str(path))
    try:
        return await store.facts()
    finally:
        await store.close()


def test_a_second_opening_is_refused_and_says_who_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore.open(str(path))

    with pytest.raises(StoreBusy, match=f"in use by process {os.getpid()}: only one process"):
        SqliteStore.open(str(path))

    asyncio.run(store.close())
    make(path)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "9p", "fuse.sshfs", "lustre"])
def test_n17_a_network_disk_is_refused_unless_it_is_allowed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.db"

    with pytest.raises(NotLocal, match=f"network disk .{kind}."):
        make(path, Options(kind_of_disk=lambda _: kind))

    assert os.listdir(tmp_path) == []
    make(path, Options(kind_of_disk=lambda _: kind, network=True))


def test_n17_nothing_else_than_the_look_at_the_disk_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.setattr(connection, "is_network", lambda kind: False)

    make(tmp_path / "a.db", Options(kind_of_disk=lambda _: "nfs"))

    record_property("planted", {"scar": "N17", "name": "no look at the disk", "seed": 0})
    assert (tmp_path / "a.db").exists()


def test_local_disks_are_known_as_such(tmp_path: Path) -> None:
    assert file_system("/proc/self") == "proc"
    assert not any(is_network(kind) for kind in ("ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", ""))


def test_the_file_is_looked_through_only_after_an_unclean_stop(tmp_path: Path) -> None:
    async def scenario() -> tuple[bool, bool, dict[str, int]]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        await store.commit([begin(1)])
        for suffix in ("", "-wal"):  # as a kill leaves it
            shutil.copy(tmp_path / f"a.db{suffix}", tmp_path / f"b.db{suffix}")
        await store.close()
        clean, unclean = (SqliteStore.open(str(tmp_path / name)) for name in ("a.db", "b.db"))
        found = clean.checked, unclean.checked, await unclean.count(Filter())
        await clean.close()
        await unclean.close()
        return found

    assert asyncio.run(scenario()) == (False, True, {"running": 1})


def damage(path: Path, start: int) -> None:
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * 40_000)


@pytest.mark.parametrize(("clean", "start"), [("no", 150_000), ("yes", 20_000)])
def test_a_damaged_file_is_refused_with_the_remedy_and_let_go_of(
    tmp_path: Path, clean: str, start: int
) -> None:
    async def fill() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        await store.commit([begin(n) for n in range(300)])
        await store.close()

    asyncio.run(fill())
    file = apsw.Connection(str(tmp_path / "a.db"))
    file.execute("UPDATE setting SET value = ? WHERE name = 'clean'", (clean,))
    file.close()
    damage(tmp_path / "a.db", start)

    for _ in range(2):
        with pytest.raises(StoreDamaged, match="penstock db restore BACKUP --db"):
            make(tmp_path / "a.db")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"not a database, but a letter to my aunt" * 100)

    with pytest.raises(StoreDamaged):
        make(tmp_path / "a.db")

    assert (tmp_path / "a.db").read_bytes().startswith(b"not a database")


def test_a_migrated_file_is_like_a_fresh_one(tmp_path: Path) -> None:
    both = (*MIGRATIONS, NEXT)
    make(tmp_path / "fresh.db", Options(migrations=both))
    make(tmp_path / "old.db")

    with pytest.raises(NeedsMigration):
        make(tmp_path / "old.db", Options(migrations=both, migrate=False))
    make(tmp_path / "old.db", Options(migrations=both))

    assert schema(tmp_path / "old.db") == schema(tmp_path / "fresh.db")
    with pytest.raises(NewerSchema):
        make(tmp_path / "old.db")


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path / "a.db")
    before = schema(tmp_path / "a.db")
    broken = Migration(
        NEXT.number, "9999_broken.sql", "CREATE TABLE extra (id INTEGER); CREATE TABLE run (id INTEGER)"
    )

    with pytest.raises(StoreRefused, match="table run already exists"):
        make(tmp_path / "a.db", Options(migrations=(*MIGRATIONS, broken)))

    assert schema(tmp_path / "a.db") == before
    make(tmp_path / "a.db")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("penstock.db", ("penstock.db", False)),
        ("data/flows", ("data/flows", False)),
        ("x.sqlite", ("x.sqlite", False)),
        ("sqlite:///srv/a%20b.db", ("/srv/a b.db", False)),
        ("sqlite://here.db", ("here.db", False)),
        ("/mnt/nfs/a.db?network=allow", ("/mnt/nfs/a.db", True)),
    ],
)
def test_addresses_of_files(url: str, path: tuple[str, bool]) -> None:
    assert sqlite_path(url) == path


@pytest.mark.parametrize(
    "url", ["", "penstock", "mysql://a/b", "sqlite://", "sqlite:///", "a.db?mode=ro", "folder/", "memory"]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(BadAddress, match="use a path such as"):
        asyncio.run(open_store(url))


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadAddress, match="in a folder that does not exist"):
        asyncio.run(open_store(f"{tmp_path}/nowhere/a.db"))


def test_a_store_in_memory_needs_no_file_and_no_thread() -> None:
    async def scenario() -> dict[str, int]:
        store = await open_store("memory:")
        await store.commit([begin(1), begin(2)])
        await store.commit([turn(2, 1, over=True)])
        counted = await store.count(Filter())
        await store.close()
        return counted

    assert asyncio.run(scenario()) == {"running": 1, "succeeded": 1}


@pytest.mark.parametrize("kind", ["folder", "device"])
def test_what_is_no_file_is_no_database(tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    path = str(tmp_path / "folder") if kind == "folder" else "/dev/null"

    with pytest.raises(BadAddress, match="is no file that can be a database"):
        asyncio.run(open_store(path))

    assert os.listdir(tmp_path) == ["folder"]


def test_where_nothing_can_be_made_no_database_can_be() -> None:
    with pytest.raises(BadAddress, match="x\\.db' is where no database can be made"):
        asyncio.run(open_store("/proc/x.db"))


def test_a_new_file_on_a_full_disk_says_so_and_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(StoreFull, match="No space left on device"):
        asyncio.run(open_store(str(tmp_path / "a.db")))

    assert os.listdir(tmp_path) == []


def test_a_lock_whose_file_was_removed_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "a.db")

    def lock(file: int, how: int) -> None:
        os.unlink(f"{path}.lock")

    monkeypatch.setattr("penstock.store.sqlite.files.fcntl.flock", lock)
    with pytest.raises(StoreBusy):
        FileLock(path)


def test_a_restore_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "garbage").write_bytes(b"garbage" * 1000)

    with pytest.raises(StoreError, match="is no backup that can be restored"):
        asyncio.run(restore_store(str(tmp_path / "a.db"), str(tmp_path / "garbage")))

    assert os.listdir(tmp_path) == ["garbage"]
