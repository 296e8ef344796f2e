"""Nothing lives in a session: a transaction pooler may stand between."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from penstock.store.postgres.database import Session, Work
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import EndedTask, EventId, Lock, PendingEvent, Post
from penstock.store.rows.rows import ClaimRequest, Filter
from tests.store.postgres.making import BEGAN, MINUTE, moved, name, over, started, task, with_store

LATER = BEGAN.replace(year=2999)


async def live(store: PostgresStore) -> list[object]:
    """A run's life, with something of everything; what was seen on the way."""
    run, key = name(1), ("order", "7")
    seen = EventId("hook", "1", LATER)
    event = PendingEvent(keys=(key,), event="paid", body=b"paid", reason="early", until=LATER, seen=seen)
    told: list[object] = [await store.keep(event), await store.keep(event)]
    first = await store.commit(
        [started(run, tasks=(task(),), keys=(key,), posts=(Post(None, b"hi"),), timers=((BEGAN, b"tick"),))]
    )
    told += [first.outcomes, [message.body for message in first.messages]]
    [leased] = await store.lease(ClaimRequest(worker="w", task_lists=("default",), tasks=("t",), limit=3))
    due = await store.due(10, MINUTE)
    told += [leased.lease.fence, [timer.body for timer in due.timers], await store.find([key])]
    ended = (EndedTask(1, -1, 1, 1),)
    second = await store.commit([moved(run, 1, ended=ended, locks=(Lock("k", 1, 1, -1, b"yours"),))])
    third = await store.commit([over(run, 2, rung=(due.timers[0].id,)), moved(run, 2)])
    told += [second.outcomes, [message.body for message in second.messages], third.outcomes]
    told += [await store.count(Filter(workflow="w")), len(await store.runs(Filter(statuses=("succeeded",))))]
    told += [await store.pages(run, 0, 9), await store.check()]
    gone = await store.retain({"succeeded": timedelta(0)}, 10, False)
    return [*told, gone.rows["run"], gone.rows["history"], await store.load([run])]


LIFE = [
    *(None, ""),
    *(["applied"], [b"hi", b"paid"]),
    *(1, [b"tick"], name(1)),
    *(["applied"], [b"yours"], ["applied", "stale"]),
    *({"succeeded": 1}, 1),
    *([b"page 1", b"page 2", b"page 3"], []),
    *(1, 3, [None]),
]


@pytest.mark.parametrize("options", ["?pool=1&prepared=off", "?pool=1", ""])
def test_n9_a_life_goes_well_where_every_transaction_finds_an_empty_session(
    url: str, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "get_reset_query", lambda self: "DISCARD ALL")

    assert with_store(url + options, live) == LIFE


def test_a_pooler_that_forgets_prepared_statements_is_lived_with(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "get_reset_query", lambda self: "DEALLOCATE ALL")

    async def main(store: PostgresStore) -> tuple[bool, object]:
        for _ in range(3):
            await store.now()
        return store.database.prepared, (await store.facts())["pooler"]

    assert with_store(url + "?pool=1", main) == (False, True)


def test_all_who_notice_at_once_that_they_are_forgotten_go_on(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(work: Work) -> None:
        await work.connection.fetch("SELECT pg_sleep(0.05)")  # so that each has a connection of its own

    async def main(store: PostgresStore) -> bool:
        for _ in range(3):
            await asyncio.gather(*(store.database.transact(slow, changes=False) for _ in range(8)))
            monkeypatch.setattr(Session, "get_reset_query", lambda self: "DEALLOCATE ALL")
        return store.database.prepared

    assert with_store(url + "?pool=8", main) is False


def test_a_life_leaves_nothing_in_the_session(url: str) -> None:
    async def main(store: PostgresStore) -> list[object]:
        connection = store.database._pool
        settings = "SELECT array_agg(name || setting) FROM pg_settings WHERE source = 'session'"
        before = await connection.fetchval(settings)
        await live(store)
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database"
        return [
            await connection.fetchval(f"{held} WHERE datname = current_database())"),
            await connection.fetchval(settings) == before,
            await connection.fetchval("SELECT count(*) FROM pg_listening_channels()"),
        ]

    assert with_store(url + "?pool=1", main) == [0, True, 0]
