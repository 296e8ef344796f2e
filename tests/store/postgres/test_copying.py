"""Backups are whole, of one moment, and come back."""

from __future__ import annotations

import asyncio
import errno
import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.store.errors import BadAddress, StoreDamaged, StoreError, StoreFull
from penstock.store.postgres.backups import TABLES
from penstock.store.postgres.database import Work
from penstock.store.postgres.schema import MIGRATIONS
from penstock.store.postgres.store import PostgresStore, restore
from penstock.store.rows.change import Post
from penstock.store.rows.rows import Filter
from tests.store.builders import publish
from tests.store.postgres.making import moved, name, opened, started, task, with_store


def test_c18_a_backup_under_load_comes_back_as_it_was_at_one_moment(
    url: str, spare: str, tmp_path: Path
) -> None:
    copy, empty = str(tmp_path / "copy"), spare

    async def work(store: PostgresStore, stop: asyncio.Event) -> int:
        count = 0
        while not stop.is_set():
            first = count = count + 1
            await store.commit([started(name(first * 1000 + n), tasks=(task(),)) for n in range(20)])
            await store.commit([moved(name(first * 1000 + n), 1) for n in range(20)])
        return count

    async def main(store: PostgresStore) -> tuple[int, list[str], int]:
        await publish(store, "w", "text", b"{}", None, True)
        stop = asyncio.Event()
        load = asyncio.create_task(work(store, stop))
        await store.commit([started(name(1), payloads=((b"d", b"x" * 3_000_000),))])
        await store.backup(copy)
        stop.set()
        done = await load
        await restore(empty, copy)
        async with opened(empty) as restored:
            counts = await restored.count(Filter())
            [version] = [(await restored.version("w", None))]
            assert version and version.definition == "text"
            assert await restored.payloads([(name(1), b"d")]) == {(name(1), b"d"): b"x" * 3_000_000}
            made = await restored.commit([started(name(2), timers=((version.at, b"tick"),))])
            assert made.outcomes == ["applied"]
            wrong = [line for line in await restored.check() if name(1) not in line and name(2) not in line]
            return counts["running"] % 20, wrong, done

    odd, wrong, done = with_store(url, main)
    assert (odd, wrong) == (1, [])  # batches are there whole, beside the run with the payload
    assert done > 0


def test_a_backup_holds_every_table(url: str) -> None:
    async def main(store: PostgresStore) -> set[str]:
        return set((await store.facts())["tables"])

    assert with_store(url, main) == set(TABLES)


def test_a_backup_replaces_no_file_and_leaves_none_behind(url: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(b"precious")

    with pytest.raises(BadAddress, match="there already"):
        with_store(url, lambda store: store.backup(str(there)))

    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("there", b"precious")]


def test_a_backup_may_be_read_by_its_owner_alone(url: str, tmp_path: Path) -> None:
    copy, left_behind = tmp_path / "copy", tmp_path / "copy.part"
    left_behind.touch(0o644)

    with_store(url, lambda store: store.backup(str(copy)))

    assert copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", [slice(0, -300), slice(0, 0), slice(5, None)])
def test_a_damaged_backup_changes_nothing(url: str, spare: str, tmp_path: Path, damage: slice) -> None:
    copy, empty = tmp_path / "copy", spare

    async def main(store: PostgresStore) -> list[object]:
        await store.commit([started(name(1))])
        await store.backup(str(copy))
        copy.write_bytes(copy.read_bytes()[damage])
        with pytest.raises(StoreDamaged):
            await restore(empty, str(copy))
        async with opened(empty) as restored:
            return [await restored.load([name(1)]), (await restored.facts())["schema"]]

    assert with_store(url, main) == [[None], len(MIGRATIONS)]


def test_a_backup_is_not_poured_over_runs(url: str, tmp_path: Path) -> None:
    async def main(store: PostgresStore) -> None:
        await store.commit([started(name(1))])
        await store.backup(str(tmp_path / "copy"))
        await restore(url, str(tmp_path / "copy"))

    with pytest.raises(StoreError, match="empty database"):
        with_store(url, main)


@pytest.mark.parametrize("passing", [False, True])
def test_a_backup_without_room_leaves_nothing_behind_and_says_so_at_once(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passing: bool
) -> None:
    noise = random.Random(1).randbytes(1_000_000)  # more than any buffer holds
    if passing:  # the end of the file would find room again
        monkeypatch.setattr(gzip.GzipFile, "write", write_little)
    else:
        monkeypatch.setattr(os, "open", open_full)

    async def main(store: PostgresStore) -> list[str]:
        await store.commit([started(name(1), payloads=((b"d", noise),), tasks=(task(),))])
        with pytest.raises(StoreFull, match=r"No space left.*make room and try again"):
            await asyncio.wait_for(store.backup(str(tmp_path / "copy")), 10)
        return await store.check()

    assert with_store(url, main) == []
    assert list(tmp_path.iterdir()) == []


def open_full(path: str, flags: int, mode: int = 0o777, to: Callable[..., int] = os.open) -> int:
    return to("/dev/full", os.O_WRONLY) if str(path).endswith(".part") else to(path, flags, mode)


def write_little(file: gzip.GzipFile, data: bytes, write: Callable[..., int] = gzip.GzipFile.write) -> int:
    if len(data) > 100_000:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return write(file, data)


def test_a_restore_leaves_the_numbers_of_other_programs_alone(url: str, spare: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy")
    other = "INSERT INTO other.timer (body) VALUES ('x') RETURNING id"

    async def main(store: PostgresStore) -> tuple[int, int]:
        await store.backup(copy)
        async with opened(spare) as empty:
            await empty.database.transact(make_other)
        await restore(spare, copy)
        async with opened(spare) as restored:
            theirs = await restored.database.transact(lambda work: work.connection.fetchval(other))
            made = await restored.commit([started(name(1), posts=(Post(None, b"hello"),))])
            return theirs, made.messages[0].id

    async def make_other(work: Work) -> None:
        await work.connection.execute(
            "DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; "
            "CREATE TABLE other.timer (id int GENERATED ALWAYS AS IDENTITY, body text)"
        )

    assert with_store(url, main) == (1, 1_000_001)


def test_a_backup_of_sqlite_is_told_from_one_that_is_damaged(spare: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(b"SQLite format 3\0" + bytes(100))

    with pytest.raises(
        StoreError, match="is a backup of SQLite and cannot be restored into PostgreSQL"
    ) as told:
        asyncio.run(restore(spare, str(copy)))
    assert not isinstance(told.value, StoreDamaged)
