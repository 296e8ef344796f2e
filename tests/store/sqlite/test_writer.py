"""The writer: waiting work shares a transaction, and a failure stays with the work that caused it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
import time
from collections.abc import Awaitable
from datetime import datetime, timedelta
from pathlib import Path

import apsw
import pytest

from penstock.store.errors import (
    OutcomeUnknown,
    StoreAway,
    StoreBusy,
    StoreError,
    StoreFailing,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)
from penstock.store.rows.change import Committed
from penstock.store.rows.rows import Filter
from penstock.store.sqlite import transaction_runner
from penstock.store.sqlite.commit.commit import MAX_LOOP_ROWS
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import T0, a_task, begin, turn
from tests.store.sqlite.power import Disk
from tests.waiting import until


class Gate:
    """A clock that stops whoever reads it, until it is opened: the writer stands still in a transaction."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()

    def now(self) -> datetime:
        self.reached.set()
        assert self.open.wait(10)
        return T0


async def behind(gate: Gate, store: SqliteStore, *asked: Awaitable[Committed]) -> list[object]:
    """Let the asked wait behind what a thread writes, then open the gate; what became of them."""
    first = asyncio.ensure_future(store.put_note("none", None))
    await asyncio.to_thread(gate.reached.wait, 10)
    waiting = asyncio.gather(*asked, return_exceptions=True)
    await asyncio.sleep(0)
    gate.open.set()
    await first
    return list(await waiting)


def test_st1_commits_that_wait_share_one_transaction(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[object], int, dict[str, int]]:
        gate = Gate()
        store = SqliteStore.open(str(tmp_path / "a.db"), gate)
        done = await behind(gate, store, *(store.commit([begin(n)]) for n in range(200)))
        counted = store.transactions, await store.count(Filter())
        await store.close()
        return done, *counted

    done, transactions, runs = asyncio.run(scenario())

    assert done == [Committed(["applied"], [], T0)] * 200
    assert runs == {"running": 200}
    assert transactions == 2


def test_st1_work_that_raises_does_not_hurt_its_group(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[object], int, dict[str, int]]:
        gate = Gate()
        store = SqliteStore.open(str(tmp_path / "a.db"), gate)
        twice = begin(2, tasks=(a_task(1), a_task(1)))
        done = await behind(gate, store, *(store.commit([c]) for c in (begin(1), twice, begin(3))))
        counted = store.transactions, await store.count(Filter())
        await store.close()
        return done, *counted

    done, transactions, runs = asyncio.run(scenario())

    assert [type(one) for one in done] == [Committed, StoreRefused, Committed]
    assert (transactions, runs) == (2, {"running": 2})


def test_a_canceled_caller_does_not_stop_the_writer(tmp_path: Path) -> None:
    async def scenario() -> dict[str, int]:
        gate = Gate()
        store = SqliteStore.open(str(tmp_path / "a.db"), gate)
        many = tuple(a_task(n) for n in range(1, MAX_LOOP_ROWS + 2))  # so many that a thread writes them
        leaving = asyncio.ensure_future(store.commit([begin(1, tasks=many)]))
        await asyncio.to_thread(gate.reached.wait, 10)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        gate.open.set()
        await store.commit([begin(2)])
        counted = await store.count(Filter())
        await store.close()
        return counted

    assert asyncio.run(scenario()) == {"running": 2}


def test_a_caller_that_leaves_while_its_batch_is_made_durable_stops_nobody(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, dict[str, int]]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        leaving = asyncio.ensure_future(store.commit([begin(1)]))
        await asyncio.sleep(0)  # its rows are written, the disk is not heard of yet
        leaving.cancel()
        await store.commit([begin(2)])
        counted = store.transactions, await store.count(Filter())
        await store.close()
        return counted

    assert asyncio.run(scenario()) == (2, {"running": 2})


def test_a_disk_that_fails_only_at_the_commit_leaves_nothing_and_lets_others_write(tmp_path: Path) -> None:
    disk = Disk()

    async def scenario() -> list[dict[str, int]]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(vfs=disk.name))
        await store.commit([begin(1)])
        await store.put_note("none", None)  # the log has its room now
        disk.room = sum(disk.sizes.values())  # the rows fit into memory, and the log not on the disk
        with pytest.raises(StoreFull, match="make room and try again"):
            await store.commit([begin(2, size=4_000_000)])
        counted = [await store.count(Filter())]
        disk.room = None
        await asyncio.gather(store.commit([begin(2)]), store.put_note("none", None))
        counted.append(await store.count(Filter()))
        await store.close()
        return counted

    assert asyncio.run(scenario()) == [{"running": 1}, {"running": 2}]
    disk.unregister()


@pytest.mark.parametrize("inline", [True, False])
def test_a_full_disk_changes_nothing_and_passes_without_a_restart(tmp_path: Path, inline: bool) -> None:
    disk = Disk()

    async def scenario() -> list[dict[str, int]]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline, vfs=disk.name))
        await store.commit([begin(1)])
        await store.put_note("none", None)  # the log has its room now
        disk.room = sum(disk.sizes.values()) + 20_000
        with pytest.raises(StoreFull, match="make room and try again"):
            await store.commit([begin(n, size=80_000) for n in range(2, 50)])
        counted = [await store.count(Filter())]
        disk.room = None
        assert (await store.commit([turn(1, 1), begin(2)])).outcomes == ["applied", "applied"]
        counted.append(await store.count(Filter()))
        assert await store.check() == []
        await store.close()
        return counted

    assert asyncio.run(scenario()) == [{"running": 1}, {"running": 2}]
    disk.unregister()


@pytest.mark.parametrize("inline", [True, False])
def test_an_error_is_never_raised_from_itself(tmp_path: Path, inline: bool) -> None:
    async def scenario() -> list[BaseException]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline))
        asked = (store._writer.write, store._writer.read)
        raised = [
            await _raised(does(lambda session: session.db.execute("SELECT * FROM nowhere"))) for does in asked
        ]
        raised.append(await _raised(store._writer.apart(lambda db: db.execute("SELECT * FROM nowhere"))))
        await store.close()
        return raised

    raised = asyncio.run(scenario())

    assert [type(error) for error in raised] == [StoreRefused] * 3
    assert all("no such table: nowhere" in str(error) for error in raised)
    assert all(error not in (error.__cause__, error.__context__) for error in raised)


async def _raised(asked: Awaitable[object]) -> BaseException:
    try:
        await asked
    except StoreError as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize(("syncs", "kept"), [(1, True), (2, True), (5, True), (1, False)])
def test_after_a_failed_commit_there_is_one_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: bool, syncs: int, kept: bool
) -> None:
    """The disk fails to sync, and drops what it had: it can still be read, until the power is cut."""
    monkeypatch.setattr(transaction_runner, "REOPEN_PAUSE", 0.0)
    disk, left = Disk(), tmp_path / "left"
    left.mkdir()

    async def scenario() -> tuple[set[str], set[str]]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline, vfs=disk.name))
        acknowledged = set[str]()
        for number in range(40):
            if number == 20:
                disk.failing, disk.keeps_failed = syncs, kept
                with pytest.raises(OutcomeUnknown, match="repeat it with the same idempotency key"):
                    await store.commit([begin(number)])
                continue
            change = begin(number)
            with contextlib.suppress(StoreUnavailable):
                await store.commit([change])
                acknowledged.add(change.run)
        shown = {row.id for row in await store.runs(Filter(limit=100))}
        disk.after_cut(random.Random(syncs), left)
        disk.dead = True
        await store.close()
        return acknowledged, shown

    acknowledged, shown = asyncio.run(scenario())
    disk.unregister()

    assert len(acknowledged) >= 34
    assert acknowledged <= shown <= acknowledged | {begin(20).run}
    assert _runs_in(left / "a.db") == shown


@pytest.mark.parametrize("inline", [True, False])
def test_a_disk_that_goes_on_failing_is_told_from_one_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    monkeypatch.setattr(transaction_runner, "REOPEN_PAUSE", 0.0)
    disk = Disk()

    async def scenario() -> tuple[list[type[BaseException]], set[str]]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline, vfs=disk.name))
        await store.commit([begin(1)])
        disk.failing = 1_000
        asked = (
            lambda: store.commit([begin(2)]),
            lambda: store.commit([begin(3)]),
            lambda: store.put_note("none", None),
            store.check,
        )
        raised = [type(await _raised(each())) for each in asked]
        disk.failing = 0
        await store.commit([begin(4)])
        shown = {row.id for row in await store.runs(Filter(limit=10))}
        await store.close()
        return raised, shown

    raised, shown = asyncio.run(scenario())
    disk.unregister()

    assert raised[0] is OutcomeUnknown
    assert set(raised[1:]) <= {StoreFailing, StoreAway}
    assert {begin(1).run, begin(4).run} <= shown <= {begin(n).run for n in (1, 2, 4)}


@pytest.mark.parametrize("inline", [True, False])
def test_a_store_outlives_a_disk_that_fails_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    """Each time the commit fails, and the reopening after it, with a log that is full."""
    monkeypatch.setattr(transaction_runner, "REOPEN_PAUSE", 0.0)
    disk = Disk()

    async def scenario() -> list[type[BaseException]]:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline, vfs=disk.name))
        raised = []
        for number in range(3):
            store._runner.log._full = 0  # as after a commit that a loop made by itself
            disk.failing = 1_000
            raised.append(type(await _raised(store.commit([begin(2 * number)]))))
            disk.failing = 0
            await store.commit([begin(2 * number + 1)])
        await store.close()
        return raised

    raised = asyncio.run(asyncio.wait_for(scenario(), 30))
    disk.unregister()

    assert raised == [OutcomeUnknown] * 3


def test_a_reader_elsewhere_does_not_hold_up_who_waits_for_a_reopening(tmp_path: Path) -> None:
    disk, path = Disk(), str(tmp_path / "a.db")

    async def scenario() -> tuple[list[type[BaseException]], float]:
        store = SqliteStore.open(path, options=Options(vfs=disk.name))
        await store.commit([begin(1)])
        reader = apsw.Connection(path)
        reader.execute("BEGIN; SELECT * FROM run").fetchall()
        await store.commit([begin(2)])  # the log has something that the reader does not see
        disk.failing = 1
        began = time.monotonic()
        raised = [type(await _raised(store.commit([begin(3)])))]
        raised += [type(await _raised(store.commit([begin(n)]))) for n in range(4, 24)]
        took = time.monotonic() - began
        reader.close()
        await asyncio.sleep(transaction_runner.REOPEN_PAUSE)  # the time between two tries
        await store.commit([begin(30)])
        await store.close()
        return raised, took

    raised, took = asyncio.run(scenario())
    disk.unregister()

    assert raised == [OutcomeUnknown, *[StoreFailing] * 20]
    assert took < 5


def _runs_in(path: Path) -> set[str]:
    async def look() -> set[str]:
        store = SqliteStore.open(str(path))
        found = {row.id for row in await store.runs(Filter(limit=100))}
        await store.close()
        return found

    return asyncio.run(look())


@pytest.mark.parametrize("inline", [True, False])
def test_a_closed_store_says_so(tmp_path: Path, inline: bool) -> None:
    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline))
        await store.close()
        await store.close()
        with pytest.raises(StoreAway):
            await store.commit([begin(1)])

    asyncio.run(scenario())


def test_work_that_waits_while_a_store_is_closed_is_answered(tmp_path: Path) -> None:
    async def scenario() -> list[object]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        finish, reached, go = store._runner.finish, threading.Event(), threading.Event()

        def held(served: list[transaction_runner.Served]) -> list[transaction_runner.Served]:
            reached.set()
            assert go.wait(10)
            return finish(served)

        store._runner.finish = held  # type: ignore[method-assign, assignment]
        first = asyncio.ensure_future(store.commit([begin(1)]))
        await asyncio.to_thread(reached.wait, 10)
        second = asyncio.ensure_future(store.commit([begin(2)]))
        closing = asyncio.ensure_future(asyncio.to_thread(store._writer.close))
        await until(lambda: store._writer._closed, "the store to be closed")  # type: ignore[attr-defined]
        go.set()
        async with asyncio.timeout(20):
            return list(await asyncio.gather(first, second, closing, return_exceptions=True))

    first, second, closed = asyncio.run(scenario())

    assert isinstance(first, Committed) and first.outcomes == ["applied"]
    assert (type(second), closed) == (StoreAway, None)


def test_a_forked_process_is_refused_and_does_not_keep_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    store = SqliteStore.open(path)
    stay, leave = os.pipe()

    child = os.fork()
    if child == 0:  # nothing of pytest may run here
        try:
            asyncio.run(store.commit([begin(1)]))
        except StoreBusy:
            os.close(leave)
            os.read(stay, 1)
            os._exit(7)
        os._exit(1)
    asyncio.run(store.close())
    asyncio.run(SqliteStore.open(path).close())
    os.close(leave)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    os.close(stay)


def test_the_bell_waits_and_can_be_canceled(tmp_path: Path) -> None:
    async def scenario() -> str | None:
        store = SqliteStore.open(":memory:")
        long = asyncio.ensure_future(store.listen(timedelta(days=1)))
        await asyncio.sleep(0)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        await store.notify("tasks")
        heard = await store.listen(timedelta(0))
        await store.close()
        return heard

    assert asyncio.run(scenario()) is None


def test_the_statements_of_batches_stay_prepared(tmp_path: Path) -> None:
    async def main() -> int:
        store = SqliteStore.open(str(tmp_path / "p.db"))
        chance = random.Random(7)
        first = 0

        async def batches(count: int) -> None:
            nonlocal first
            for _ in range(count):
                runs = range(first, first + chance.randint(1, 300))
                first = runs.stop
                await store.commit([begin(run) for run in runs])
                await store.commit([turn(run, 1) for run in runs])
                await store.commit([turn(run, 2, over=True) for run in runs])

        await batches(20)
        before = store._runner.db.cache_stats()["misses"]
        await batches(20)
        after = store._runner.db.cache_stats()["misses"]
        await store.close()
        return int(after - before)

    assert asyncio.run(main()) <= 3


@pytest.mark.parametrize(
    ("took", "quick"),
    [
        ([], False),
        ([0.0005] * 20, True),
        ([0.0005] * 20 + [0.008], True),  # a single one
        ([0.0005] * 20 + [0.008] * 2, False),
        ([0.0005] * 20 + [1.0], False),
        ([0.0005] * 20 + [1.0] + [0.0005] * 5, False),
        ([0.0005] * 20 + [1.0] + [0.0005] * 20, True),
        ([0.003] * 20, False),
    ],
)
def test_a_disk_is_quick_by_what_its_commits_took_of_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took: list[float], quick: bool
) -> None:
    async def main() -> bool:
        store = SqliteStore.open(str(tmp_path / "p.db"), options=Options(inline=True))
        ticks = iter([at for seconds in took for at in (0.0, seconds)])
        monkeypatch.setattr(transaction_runner, "perf_counter", lambda: next(ticks))
        for number in range(len(took)):
            await store.commit([begin(number)])
        found = store._runner.is_quick
        monkeypatch.undo()
        await store.close()
        return found

    assert asyncio.run(main()) == quick


@pytest.mark.parametrize(("moment", "here"), [(10.0, True), (0.0, False)])
def test_a_loop_waits_itself_for_little_where_the_disk_was_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: float, here: bool
) -> None:
    monkeypatch.setattr(transaction_runner, "MAX_LOOP_WAIT", moment)

    async def main() -> tuple[bool, set[bool]]:
        store = SqliteStore.open(str(tmp_path / "p.db"))
        threads: list[bool] = []
        finish = store._runner.finish

        def noted(served: list[transaction_runner.Served]) -> list[transaction_runner.Served]:
            threads.append(threading.current_thread() is threading.main_thread())
            return finish(served)

        store._runner.finish = noted  # type: ignore[method-assign, assignment]
        for number in range(50):
            assert (await store.commit([begin(number)])).outcomes == ["applied"]
        few = threads[10:].count(True) >= 35  # the others had to look after the log
        threads.clear()
        await store.commit([begin(number) for number in range(100, 120)])
        many = set(threads)
        await store.close()
        return few, many

    assert asyncio.run(main()) == (here, {False})
