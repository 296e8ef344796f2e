"""The log of a file that is written much gets its room ahead, and nothing else changes by that."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import apsw
import pytest

from penstock.store.rows import Filter
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin
from tests.store.sqlite.power import Disk

PAGES, SETTLED = 200, 5
FULL = 32 + PAGES * (24 + 4096)


async def lengths(store: SqliteStore, path: Path, commits: int) -> list[int]:
    """Of the log, after each commit."""
    found: list[int] = []
    for number in range(commits):
        await store.commit([begin(number)])
        found.append(Path(f"{path}-wal").stat().st_size)
    return found


def options(inline: bool, vfs: str | None = None) -> Options:
    return Options(inline=inline, vfs=vfs, checkpoint=PAGES, settled=SETTLED)


@pytest.mark.parametrize("inline", [False, True])
def test_a_file_that_is_written_much_has_the_room_of_its_log_at_once(tmp_path: Path, inline: bool) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> list[int]:
        store = SqliteStore.open(str(path), options=options(inline))
        found = await lengths(store, path, SETTLED + 5)
        shutil.copy(path, tmp_path / "dead.db")
        shutil.copy(f"{path}-wal", tmp_path / "dead.db-wal")
        await store.close()
        return found

    found = asyncio.run(scenario())

    assert max(found[: SETTLED - 1]) < FULL
    assert set(found[SETTLED - 1 :]) == {FULL}
    assert not Path(f"{path}-wal").exists()  # as ever where it was closed in good order
    assert runs_in(tmp_path / "dead.db") == SETTLED + 5  # and as ever where it was not


def runs_in(path: Path) -> int:
    async def scenario() -> int:
        store = SqliteStore.open(str(path))
        counted = await store.count(Filter())
        await store.close()
        return sum(counted.values())

    return asyncio.run(scenario())


def test_where_the_disk_has_no_room_for_it_the_file_goes_on_without(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> list[int]:
        disk = Disk(room=FULL)
        store = SqliteStore.open(str(path), options=options(True, disk.name))
        found = await lengths(store, path, SETTLED + 5)
        await store.close()
        return found

    found = asyncio.run(scenario())

    assert found == sorted(found) and found[-1] < FULL
    assert runs_in(path) == SETTLED + 5


def test_a_file_that_is_looked_at_only_takes_no_room(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore.open(str(path), options=options(False))
    assert Path(f"{path}-wal").stat().st_size < FULL
    asyncio.run(store.close())


def test_a_store_in_memory_has_no_log() -> None:
    async def scenario() -> None:
        store = SqliteStore.open(":memory:", options=Options(settled=1))
        await store.commit([begin(1)])
        await store.close()

    asyncio.run(scenario())
    assert not Path(":memory:-wal").exists()


def test_commits_go_over_what_is_there(tmp_path: Path) -> None:
    """The point of it: the length of the log, which the disk would have to write down too, stays as it is.

    The commit that goes over the number of pages is still in it: by so much it grows once.
    """
    path = tmp_path / "a.db"

    async def scenario() -> list[int]:
        store = SqliteStore.open(str(path), options=options(True))
        found = await lengths(store, path, 60)  # the log begins anew some times
        await store.close()
        return found

    found = asyncio.run(scenario())[SETTLED:]
    assert found[0] == FULL
    assert len(set(found)) <= 2 and max(found) < FULL * 1.1
    assert apsw.Connection(str(path)).execute("PRAGMA quick_check").fetchall() == [("ok",)]
