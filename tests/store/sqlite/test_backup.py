"""A backup is whole, while everything goes on."""

from __future__ import annotations

import asyncio
import errno
import gzip
import os
from pathlib import Path

import pytest

from penstock.store.errors import BadAddress, StoreDamaged, StoreError, StoreFull
from penstock.store.open import restore_store
from penstock.store.rows.rows import Filter
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.observer import Observer
from penstock.store.sqlite.store import SqliteStore
from penstock.store.sqlite.tables import maintenance
from tests.store.sqlite.builders import begin, turn
from tests.store.sqlite.power import Disk
from tests.store.sqlite.test_opening import damage


async def load(store: SqliteStore, stop: asyncio.Event) -> int:
    """Start runs and end the ones before, until told to stop; how many were acknowledged."""
    made = 0
    while not stop.is_set():
        changes = [begin(made), *([turn(made - 1, 1, over=True)] if made else [])]
        assert (await store.commit(changes)).outcomes == ["applied"] * len(changes)
        made += 1
    return made


def test_a_backup_under_load_restores_to_a_whole_store(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, dict[str, int], list[str], int]:
        store, stop = SqliteStore.open(str(tmp_path / "a.db")), asyncio.Event()
        await store.commit([begin(n, size=2000) for n in range(10_000, 10_500)])
        loading = asyncio.ensure_future(load(store, stop))
        while sum((await store.count(Filter())).values()) < 505:
            await asyncio.sleep(0)
        before = sum((await store.count(Filter())).values())
        await store.backup(str(tmp_path / "copy.db"))
        stop.set()
        total = 500 + await loading
        await store.close()
        copy = SqliteStore.open(str(tmp_path / "copy.db"))
        found, wrong = await copy.count(Filter()), await copy.check()
        await copy.close()
        return before, found, wrong, total

    before, found, wrong, total = asyncio.run(scenario())

    assert wrong == []
    assert before <= sum(found.values()) <= total
    assert found["running"] == 501


@pytest.mark.parametrize("inline", [True, False])
def test_a_backup_never_overwrites(tmp_path: Path, inline: bool) -> None:
    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline))
        (tmp_path / "there.db").write_text("precious")
        with pytest.raises(BadAddress, match="only to a new file"):
            await store.backup(str(tmp_path / "there.db"))
        with pytest.raises(BadAddress, match=r"the folder .* is not there"):
            await store.backup(str(tmp_path / "nowhere" / "copy.db"))
        await store.close()

    asyncio.run(scenario())

    assert (tmp_path / "there.db").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock", "there.db"}


@pytest.mark.parametrize("inline", [True, False])
def test_a_backup_without_room_leaves_nothing_behind_and_says_so(tmp_path: Path, inline: bool) -> None:
    disk = Disk()

    async def scenario() -> list[str]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline, vfs=disk.name))
        await store.commit([begin(n, size=3000) for n in range(50)])
        await store.commit([begin(50)])  # the log has taken its room before this one began
        disk.room = sum(disk.sizes.values()) + 20_000
        with pytest.raises(StoreFull, match="make room and try again"):
            await store.backup(str(tmp_path / "copy.db"))
        disk.room = None
        wrong = await store.check()
        await store.close()
        return wrong

    assert asyncio.run(scenario()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock"}
    disk.unregister()


def test_a_journal_that_a_full_disk_leaves_behind_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite itself does not remove it there."""

    def full(path: str) -> None:
        Path(f"{path}-journal").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        with pytest.raises(StoreFull):
            await store.backup(str(tmp_path / "copy.db"))
        await store.close()

    monkeypatch.setattr(maintenance, "make_private", full)
    asyncio.run(scenario())

    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock"}


def test_a_backup_whose_name_is_taken_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "there.db").symlink_to("nowhere")  # a look finds no file, but the name is taken

    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        with pytest.raises(BadAddress, match="only to a new file"):
            await store.backup(str(tmp_path / "there.db"))
        await store.close()

    asyncio.run(scenario())

    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock", "there.db"}


@pytest.mark.parametrize("verb", ["check", "backup"])
@pytest.mark.parametrize("way", ["threads", "inline", "beside"])
def test_a_damaged_file_is_told_with_the_remedy_by_who_looks_through_it(
    tmp_path: Path, verb: str, way: str
) -> None:
    path = tmp_path / "a.db"

    def opened(way: str) -> SqliteStore | Observer:
        if way == "beside":
            return Observer(str(path))
        return SqliteStore.open(str(path), options=Options(inline=way == "inline"))

    async def scenario() -> None:
        store = SqliteStore.open(str(path))
        await store.commit([begin(n) for n in range(300)])
        await store.close()
        damage(path, 320_000)
        looking = opened(way)
        with pytest.raises(StoreDamaged, match="penstock db restore BACKUP --db"):
            await (looking.check() if verb == "check" else looking.backup(str(tmp_path / "copy.db")))
        await looking.close()

    asyncio.run(scenario())
    assert not (tmp_path / "copy.db").exists()


def test_what_is_written_may_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    async def play() -> dict[str, int]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        await store.put_note("a", "b")
        await store.backup(str(tmp_path / "copy.db"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
        await store.close()
        return modes

    names = ("a.db", "a.db-shm", "a.db-wal", "a.db.lock", "copy.db")
    assert asyncio.run(play()) == dict.fromkeys(names, 0o600)


def test_a_backup_of_postgresql_is_told_as_one(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(gzip.compress(b"{}" * 1000))

    with pytest.raises(StoreError, match="it is one of PostgreSQL: give its address with --db"):
        asyncio.run(restore_store(str(tmp_path / "a.db"), str(copy)))
    assert not (tmp_path / "a.db").exists()
