"""The database is away, or full: a typed error with the remedy, nothing half done, recovery without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from penstock import Context, Engine
from penstock.engine.services import EngineServices
from penstock.runtime.dispatch import dispatch
from penstock.store.errors import OutcomeUnknown, StoreAway, StoreFull
from penstock.store.sqlite.store import SqliteStore
from penstock.workers.task import tasks_of
from tests.durable.conftest import Place
from tests.postgres_server import PostgresServer
from tests.waiting import until

CHAIN = "penstock: 1\nname: w\nsteps:\n  a: {task: echo}\n  b: {task: echo, after: a}\n"


async def echo(ctx: Context) -> Any:
    return ctx.data


async def answered(work: Any) -> Any:
    """What comes of it once the database is back."""

    async def attempt() -> Any:
        with suppress(StoreAway):
            return await work()

    return await until(attempt, "the database to come back", so=lambda found: found is not None)


def test_a_postgresql_that_is_away_is_told_and_found_again() -> None:
    server = PostgresServer().start()
    url = server.create_database()

    async def main() -> None:
        async with Engine(url, tasks={"echo": echo}) as engine:
            await engine.publish(CHAIN)
            assert (await engine.wait(await engine.start("w"), 30))["status"] == "succeeded"
            await asyncio.to_thread(server.stop, "immediate")
            with pytest.raises(StoreAway, match="the database does not answer"):
                await engine.start("w", idempotency_key="once")
            await asyncio.to_thread(server.start)
            id = await answered(lambda: engine.start("w", idempotency_key="once"))
            assert (await engine.wait(id, 60))["status"] == "succeeded"
            assert (await engine.counts())["succeeded"] == 2

    try:
        asyncio.run(main())
    finally:
        server.remove()


class _Losing:
    """A store whose first commit has an unknown outcome, and what is asked then (`again`) once more."""

    def __init__(
        self, store: Any, again: str | None, runs: Callable[[], bool], look: Callable[[], None]
    ) -> None:
        self.again, self.runs, self.look, self.commits, self.releases = again, runs, look, 0, 0
        self._commit, self._tasks, self._release = store.commit, store.tasks, store.release

    async def commit(self, changes: Any) -> Any:
        self.commits += 1
        if self.commits > (2 if self.again == "commit" else 1):
            return await self._commit(changes)
        if self.commits == 2:
            await until(self.runs, "the task runs", pause=0.01)
        if self.again != "tasks":
            await self._commit(changes)
        raise OutcomeUnknown("the disk fails")

    async def tasks(self, run: str) -> Any:
        if self.again == "tasks" and not self.runs():
            raise StoreAway("its answer is lost")
        return await self._tasks(run)

    async def release(self, leases: Any) -> Any:
        self.releases += 1
        released = await self._release(leases)
        if self.again == "release" and self.releases == 1:
            self.look()
            raise StoreAway("its answer is lost")
        return released


@pytest.mark.parametrize("again", [None, "tasks", "release", "commit"])
def test_a_run_whose_commit_has_an_unknown_outcome_does_not_wait_for_a_lease(
    place: Place, again: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit happened, and leased the task to a worker of this process that knows nothing of it.

    What is lost `again` is the answer to the release, or to the commit of the start that is tried again: by then the
    worker has leased the task itself, and keeps it. So it does where the commit did not happen and the answer to the
    question which tasks there are is lost: by then it was given the task by the start that is tried again.
    """
    monkeypatch.setattr(dispatch, "RELEASE_RETRY_DELAY", 0.05)
    ran: list[str] = []

    async def slow(ctx: Context) -> None:
        ran.append(ctx.step)
        await asyncio.sleep(0.3)  # it runs while its lease is released once more

    async def main(engine: Engine) -> dict[str, Any]:
        await engine.publish(CHAIN)
        await engine.wait(await engine.start("w"), 30)
        running = await engine.running()
        broken = _Losing(running.store, again, lambda: bool(ran[2:]), running.node.dispatch.look)
        for verb in ("commit", "tasks", "release"):
            monkeypatch.setattr(running.store, verb, getattr(broken, verb))
        return await engine.wait(await engine.start("w"), 20)  # a lease lasts a minute

    view = place.run(main, tasks={"echo": slow})

    assert (view["status"], view["steps"]["a"]["attempts"], ran) == ("succeeded", 1, ["a", "b"] * 2)


def test_a_full_disk_is_told_and_nothing_is_half_done(tmp_path: Path) -> None:
    async def main() -> None:
        store = SqliteStore.open(str(tmp_path / "full.db"))
        running = await EngineServices.on(store, tasks_of({"echo": echo}), shared=False)
        await running.catalog.publish(CHAIN)
        pages = await limit_pages(store, 8)
        started: list[str] = []
        with pytest.raises(StoreFull, match="make room and try again"):
            while True:
                started.append(await running.node.commands.start("w", input={"fill": "x" * 20_000}))
        assert len(await running.store.load([started[0]])) == 1
        await limit_pages(store, pages)
        id = await running.node.commands.start("w")
        for run in (id, *started):
            async with asyncio.timeout(60):
                _, snapshot = await running.node.run_watch.until(run, lambda snapshot: snapshot.ended)
            assert snapshot.status == "succeeded"
        assert await store.check() == []
        await running.close()

    asyncio.run(main())


def test_a_file_that_cannot_be_written_is_told_and_is_read_on(tmp_path: Path) -> None:
    async def main() -> None:
        store = SqliteStore.open(str(tmp_path / "read.db"))
        running = await EngineServices.on(store, tasks_of({"echo": echo}), shared=False)
        await running.catalog.publish(CHAIN)
        before = await running.node.commands.start("w")
        async with asyncio.timeout(60):
            await running.node.run_watch.until(before, lambda snapshot: snapshot.ended)
        db = await store._writer.write(lambda session: session.db)
        db.pragma("query_only", 1)
        with pytest.raises(StoreAway):
            await running.node.commands.start("w")
        assert len(await running.store.load([before])) == 1
        db.pragma("query_only", 0)
        id = await running.node.commands.start("w")
        async with asyncio.timeout(60):
            _, snapshot = await running.node.run_watch.until(id, lambda snapshot: snapshot.ended)
        assert snapshot.status == "succeeded"
        await running.close()

    asyncio.run(main())


async def limit_pages(store: SqliteStore, more: int) -> int:
    """Let the file grow by so many pages at most; a huge number lifts the limit."""

    def limit(session: Any) -> int:
        count = session.db.pragma("page_count")
        session.db.pragma("max_page_count", count + more)
        return 1_000_000

    return await store._writer.write(limit)
