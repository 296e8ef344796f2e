"""The server goes away and comes back: errors are typed, nothing acknowledged is lost, no restart is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import asyncpg
import pytest

from penstock.store.errors import BadAddress, StoreAway, StoreError, StoreFailing, StoreFull, StoreRefused
from penstock.store.postgres.commit import commit
from penstock.store.postgres.database import Work
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import Change
from tests.postgres_server import PostgresServer
from tests.store.builders import A, B, change, ended, given, lease_of, revisions, start, task
from tests.store.postgres.making import name, opened, started, with_store
from tests.waiting import until


@pytest.fixture(scope="module")
def frail() -> Iterator[PostgresServer]:
    """A server of its own: it is crashed."""
    running = PostgresServer().start()
    yield running
    running.remove()


class Ledger:
    """What callers were told of the runs that they started."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.unsure: list[str] = []
        self.stop = False

    async def start_runs(self, store: PostgresStore, first: int) -> None:
        """Start runs until told to stop."""
        while not self.stop:
            first += 1
            try:
                assert (await store.commit([started(name(first))])).outcomes == ["applied"]
                self.acknowledged.append(name(first))
            except StoreAway as error:
                (self.unsure if error.unsure else self.refused).append(name(first))
                await asyncio.sleep(0.01)  # the pace of the load while the database is away

    async def more(self) -> None:
        """Wait until commits are under way."""
        wanted = len(self.acknowledged) + 20
        await until(lambda: len(self.acknowledged) >= wanted, "twenty more commits", 60)


def test_c1_n14_what_was_acknowledged_survives_crashes_and_the_store_goes_on(frail: PostgresServer) -> None:
    ledger = Ledger()

    async def main(store: PostgresStore) -> tuple[int, int]:
        callers = [asyncio.create_task(ledger.start_runs(store, n * 10**6)) for n in range(4)]
        for crash in (lambda: frail.stop("immediate"), frail.kill):
            await ledger.more()
            await asyncio.to_thread(crash)
            await asyncio.to_thread(frail.start)
        await ledger.more()
        ledger.stop = True
        await asyncio.gather(*callers)
        there = await store.load(ledger.acknowledged)
        not_there = await store.load(ledger.refused)
        return there.count(None), len(not_there) - not_there.count(None)

    lost, made = with_store(frail.create_database(), main)
    assert (lost, made) == (0, 0)
    assert len(ledger.refused) + len(ledger.unsure) >= 4


def test_an_outage_is_told_at_once_and_as_what_it_is(frail: PostgresServer) -> None:
    async def main(store: PostgresStore) -> tuple[bool, float]:
        await store.now()
        await asyncio.to_thread(frail.stop)
        began = asyncio.get_running_loop().time()
        try:
            with pytest.raises(StoreAway) as away:
                await store.commit([started(name(1))])
            return away.value.unsure, asyncio.get_running_loop().time() - began
        finally:
            await asyncio.to_thread(frail.start)

    unsure, seconds = with_store(frail.create_database(), main)
    assert not unsure  # it could not connect: nothing was sent
    assert seconds < 6


def test_a_connection_that_breaks_before_the_commit_changed_nothing(url: str) -> None:
    async def main(store: PostgresStore) -> tuple[bool, list[object]]:
        async def broken(work: Work) -> None:
            await work.rows("put_setting", name="half", value="done")
            pid = await work.value("backend")
            async with opened(url) as other:
                await other.database.transact(
                    lambda them: them.connection.execute(f"SELECT pg_terminate_backend({pid})")
                )
            await work.rows("read_now")

        with pytest.raises(StoreAway) as away:
            await store.database.transact(broken)
        return away.value.unsure, await store.database.read("read_setting", name="half")

    assert with_store(url, main) == (False, [])


def test_what_the_driver_says_of_its_own_state_is_told_in_plain_words(url: str) -> None:
    async def broken(work: Work) -> None:
        raise asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")

    async def main(store: PostgresStore) -> None:
        with pytest.raises(
            StoreAway, match=r"does not answer \(the connection was closed\); nothing was changed"
        ):
            await store.database.transact(broken)

    with_store(url, main)


def test_n8_a_node_hears_again_after_its_ear_was_cut_off(url: str, server: PostgresServer) -> None:
    database = url.rpartition("/")[2]
    listening = f"FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE 'LISTEN%'"

    async def listener(store: PostgresStore, but: str = "") -> str:
        """Wait until there is a backend that listens, and answer its pid."""
        while True:
            await store.listen(timedelta(seconds=0.01))
            found = await asyncio.to_thread(server.query, f"SELECT pid {listening}", database)
            if found and found != but:
                return found

    async def main(store: PostgresStore) -> set[str | None]:
        pid = await listener(store)
        await asyncio.to_thread(server.query, f"SELECT pg_terminate_backend({pid})", database)
        applied = await store.commit([started(name(1))])
        assert applied.outcomes == ["applied"]
        await listener(store, but=pid)
        while await store.listen(timedelta(seconds=0.05)):
            pass
        async with opened(url) as other:
            await other.notify("tasks")
            await other.notify("tasks")
            return {await store.listen(timedelta(seconds=5))}

    assert with_store(url, main) == {"tasks"}


def test_nobody_hears_himself(url: str) -> None:
    async def main(store: PostgresStore) -> str | None:
        await store.listen(timedelta(seconds=0.2))
        await store.notify("tasks")
        return await store.listen(timedelta(seconds=0.2))

    assert with_store(url, main) is None


def test_a_server_that_is_not_there_is_told(frail: PostgresServer) -> None:
    with pytest.raises(StoreAway, match="does not answer"):
        with_store("postgresql://nobody@127.0.0.1:1/nothing", PostgresStore.now)
    with pytest.raises(
        BadAddress, match=r"has no database 'no_such_database': make it, with `createdb no_such_database`"
    ):
        with_store(frail.url("no_such_database"), PostgresStore.now)


@pytest.mark.parametrize(
    "url",
    ["mysql://x/y", "postgresql://h/d?pool=0", "postgresql://h/d?pool=x", "postgresql://h/d?prepared=maybe"],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        with_store(url, PostgresStore.now)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(BadAddress) as refused:
        with_store("postgresql://me:s3cret@h/d?pool=0", PostgresStore.now)

    assert "s3cret" not in str(refused.value)
    assert "me:***@h" in str(refused.value)


@pytest.mark.parametrize("change", [started(name(1), seq=2**70), started(name(1), status="a\0b")])
def test_a_value_that_cannot_be_stored_is_refused_and_not_taken_for_an_outage(
    url: str, change: Change
) -> None:
    async def main(store: PostgresStore) -> list[object]:
        with pytest.raises(StoreError) as refused:
            await store.commit([change])
        return [type(refused.value), await store.load([name(1)])]

    assert with_store(url, main) == [StoreRefused, [None]]


@pytest.mark.parametrize(("code", "error"), [("53100", StoreFull), ("58030", StoreFailing)])
def test_a_full_disk_and_one_that_fails_are_told_apart(url: str, code: str, error: type[StoreError]) -> None:
    async def fail(work: Work) -> None:
        await work.connection.execute(
            f"DO $$ BEGIN RAISE EXCEPTION 'the disk' USING ERRCODE = '{code}'; END $$"
        )

    async def main(store: PostgresStore) -> None:
        await store.database.transact(fail)

    with pytest.raises(error, match="the disk"):
        with_store(url, main)


@pytest.mark.parametrize("trouble", [StoreAway("gone"), StoreFull("no room")])
@pytest.mark.parametrize("some", [True, False])
def test_a_batch_of_which_some_is_done_is_not_said_to_have_changed_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch, trouble: StoreError, some: bool
) -> None:
    """A step that does not fit is looked at after the others are written, and then the server is in trouble."""

    async def fail(*_: object, **__: object) -> None:
        raise trouble

    async def main(store: PostgresStore) -> tuple[StoreError, list[int | None]]:
        await given(store, *[start(run, has_extras=False, tasks=(task(worker="amy"),)) for run in (A, B)])
        late = change(A, 7, has_extras=False, goes_on=True, ended=(ended(lease_of(A)),))
        step = change(B, 1, has_extras=False, goes_on=True, ended=(ended(lease_of(B)),))
        monkeypatch.setattr(commit, "_commit", fail)
        with pytest.raises(StoreError) as told:
            await store.commit([late, step] if some else [late])
        return told.value, await revisions(store, B)

    told, reached = with_store(url, main)
    if some:
        assert isinstance(told, StoreAway)
        assert told.unsure
    else:
        assert told is trouble
    assert reached == [2 if some else 1]
