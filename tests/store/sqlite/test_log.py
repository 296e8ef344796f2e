"""The log of a file gets its room ahead, as it is written, and nothing else changes by that."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import apsw
import pytest

from penstock import Engine
from penstock.store.rows.rows import Filter
from penstock.store.sqlite import transaction_runner, write_ahead_log
from penstock.store.sqlite.commit.commit import MIN_THREAD_CHANGES
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin
from tests.store.sqlite.power import Disk

PAGES = 1_600
FULL = 32 + PAGES * (24 + 4096)
COMMITS = 500


async def lengths(store: SqliteStore, path: Path, commits: int = COMMITS) -> list[int]:
    """Of the log, after each commit."""
    found: list[int] = []
    for number in range(commits):
        await store.commit([begin(number)])
        await store.put_note("none", None)  # behind whoever looks after the log
        found.append(Path(f"{path}-wal").stat().st_size)
    return found


def options(inline: bool, vfs: str | None = None, warm_up: bool = False) -> Options:
    return Options(inline=inline, vfs=vfs, checkpoint=PAGES, warm_up=warm_up)


def made(path: Path) -> None:
    """A file with its tables, as a store leaves it."""
    asyncio.run(SqliteStore.open(str(path)).close())


def soaked(path: Path, options: Options) -> list[int]:
    async def scenario() -> list[int]:
        store = SqliteStore.open(str(path), options=options)
        found = await lengths(store, path)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", path.with_name(f"dead.db{suffix}"))
        await store.close()
        return found

    return asyncio.run(scenario())


def grown(lengths: list[int]) -> list[int]:
    """Pages for which there was room, one after the other; the commit that goes over the last is still in it."""
    pages = sorted({(length - 32) // (24 + 4096) for length in lengths})
    return [*(each for each in pages if each < PAGES), PAGES] if pages[-1] >= PAGES else pages


def runs_in(path: Path) -> int:
    async def scenario() -> int:
        store = SqliteStore.open(str(path))
        counted = await store.count(Filter())
        await store.close()
        return sum(counted.values())

    return asyncio.run(scenario())


@pytest.mark.parametrize("inline", [False, True])
def test_the_log_grows_a_few_times_and_not_with_every_commit(tmp_path: Path, inline: bool) -> None:
    """The point of it: the disk need not write down a new length."""
    path = tmp_path / "a.db"
    made(path)

    found = soaked(path, options(inline))

    assert found == sorted(found)
    assert len(set(found)) <= 4  # it would be nearly each of them
    # The commit that goes over the number of pages is still in it.
    assert FULL <= found[-1] < FULL * 1.1
    assert runs_in(tmp_path / "dead.db") == COMMITS  # what a process that dies leaves behind
    assert not Path(f"{path}-wal").exists()  # as ever where it was closed in good order
    assert runs_in(path) == COMMITS


def test_the_log_is_looked_after_also_where_nobody_but_a_loop_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would grow as long as single runs are all that there is."""
    monkeypatch.setattr(transaction_runner, "MAX_LOOP_WAIT", 10.0)  # whatever the disk does, it is quick
    path = tmp_path / "a.db"
    made(path)

    async def scenario() -> int:
        store = SqliteStore.open(str(path), options=options(inline=False))
        for number in range(COMMITS):
            await store.commit([begin(number)])
        length = Path(f"{path}-wal").stat().st_size
        await store.close()
        return length

    assert FULL <= asyncio.run(scenario()) < FULL * 1.1


def test_room_is_taken_twice_for_a_little_and_then_for_all(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path)

    assert grown(soaked(path, options(inline=True))) == [write_ahead_log.INITIAL_PAGES, PAGES]


@pytest.mark.parametrize("inline", [False, True])
def test_where_runs_will_follow_all_room_is_taken_at_once(tmp_path: Path, inline: bool) -> None:
    """Whoever commits while it is taken waits for it: no run need."""
    path = tmp_path / "a.db"
    made(path)

    assert grown(soaked(path, options(inline, warm_up=True))) == [PAGES]


@pytest.mark.parametrize(("work", "pages"), [(True, 4_000), (False, write_ahead_log.INITIAL_PAGES)])
def test_an_engine_that_works_has_all_room_before_its_first_run(
    tmp_path: Path, work: bool, pages: int
) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> int:
        async with Engine(f"sqlite:///{path}", work=work) as engine:
            await engine.publish({"penstock": 1, "name": "w", "steps": {"s": {"task": "set"}}})
            return Path(f"{path}-wal").stat().st_size

    assert asyncio.run(scenario()) // (24 + 4096) == pages


def test_a_file_that_is_hardly_written_takes_little_room(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path)

    async def scenario() -> list[int]:
        store = SqliteStore.open(str(path), options=options(False))
        found = await lengths(store, path, 1)
        await store.close()
        return found

    [found] = asyncio.run(scenario())
    assert found < FULL * 0.7


def test_the_log_is_folded_into_the_file_when_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path)
    before = path.stat().st_size

    async def scenario() -> int:
        store = SqliteStore.open(str(path), options=options(False))
        await lengths(store, path)
        grown = path.stat().st_size - before
        await store.close()
        return grown

    assert asyncio.run(scenario()) > 0


def test_where_the_disk_has_no_room_ahead_commits_go_on_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, usual = tmp_path / "a.db", tmp_path / "usual.db"
    made(path)
    made(usual)
    free, tight = Disk(), Disk(room=path.stat().st_size + 3_000_000)
    disks = [(usual, free), (path, tight)]

    async def scenario(path: Path, disk: Disk) -> list[int]:
        disk.sizes[str(path)] = path.stat().st_size
        store = SqliteStore.open(str(path), options=options(True, disk.name))
        found = await lengths(store, path, 24)
        await store.close()
        return found

    ahead, without = [asyncio.run(scenario(path, disk)) for path, disk in disks]

    assert max(without) < max(ahead)
    [said] = caplog.messages
    assert f"the log of '{path}' cannot be folded into the file, or made longer" in said
    assert runs_in(path) == runs_in(usual) == 24


@pytest.mark.parametrize("inline", [True, False])
def test_what_was_committed_outlives_a_disk_that_has_no_room_ahead(tmp_path: Path, inline: bool) -> None:
    """The room is given back, and nothing that stands before it."""
    path, dead = tmp_path / "a.db", tmp_path / "dead.db"
    made(path)
    disk = Disk(room=path.stat().st_size + 1_500_000)

    async def scenario() -> None:
        disk.sizes[str(path)] = path.stat().st_size
        store = SqliteStore.open(str(path), options=options(inline, disk.name))
        await store.commit([begin(number, size=3_000) for number in range(100)])
        await store.put_note("none", None)  # behind whoever looks after the log
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{dead}{suffix}")
        await store.close()

    asyncio.run(scenario())

    assert Path(f"{dead}-wal").stat().st_size > 100 * 3_000
    assert runs_in(dead) == 100
    whole = apsw.Connection(str(dead))
    assert whole.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    whole.close()
    disk.unregister()


def test_where_there_was_no_room_it_is_looked_for_again_when_the_log_is_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not with every commit, of which each would wait for it."""
    path = tmp_path / "a.db"
    made(path)
    tries: list[int] = []

    def full(file: apsw.VFSFile, end: int) -> None:
        tries.append(end)
        raise apsw.FullError

    async def scenario() -> list[int]:
        store = SqliteStore.open(str(path), options=options(True))
        await lengths(store, path)
        await store.close()
        return tries

    monkeypatch.setattr(write_ahead_log, "_fill", full)

    found = asyncio.run(scenario())
    assert 2 <= len(found) <= COMMITS * 10 / PAGES
    assert runs_in(path) == COMMITS


def test_whatever_goes_wrong_with_the_log_others_still_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(write_ahead_log, "_fill", fail)

    async def scenario() -> list[str]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        batches = [[begin(1)], [begin(2)], [begin(number) for number in range(10, 10 + MIN_THREAD_CHANGES)]]
        async with asyncio.timeout(10):
            found = [(await store.commit(batch)).outcomes[0] for batch in batches]
        await store.close()
        return list(found)

    assert asyncio.run(scenario()) == ["applied"] * 3


def test_the_log_of_another_file_of_that_name_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task may change the folder of the process: somebody else may be writing a file of that name there."""
    one, two = tmp_path / "one" / "a.db", tmp_path / "two" / "a.db"
    for path in (one, two):
        path.parent.mkdir()
        made(path)

    async def scenario() -> tuple[list[int], int, int]:
        other = SqliteStore.open(str(two))
        before = Path(f"{two}-wal").stat().st_size
        monkeypatch.chdir(one.parent)
        store = SqliteStore.open("a.db")
        monkeypatch.chdir(two.parent)
        found = await lengths(store, one, 1)
        after = Path(f"{two}-wal").stat().st_size
        await store.close()
        await other.close()
        return found, before, after

    [found], before, after = asyncio.run(scenario())
    assert found > 1_000 * 4_096  # the first room
    assert after == before


def test_a_file_behind_a_link_has_its_room_too(tmp_path: Path) -> None:
    path, link = tmp_path / "a.db", tmp_path / "link.db"
    made(path)
    link.symlink_to(path)

    async def scenario() -> list[int]:
        store = SqliteStore.open(str(link))
        found = await lengths(store, path, 1)
        await store.close()
        return found

    [found] = asyncio.run(scenario())
    assert found > 1_000 * 4_096  # the first room


def test_a_store_in_memory_has_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def scenario() -> None:
        store = SqliteStore.open(":memory:")
        await store.commit([begin(1)])
        await store.close()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_whole_after_the_log_began_anew_many_times(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    soaked(path, options(inline=False))
    soaked_again = apsw.Connection(str(path))
    assert soaked_again.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    soaked_again.close()
