"""Calls that are under way on other nodes, seen through one database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.engine.background.call_order import ROOT, CallOrder
from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.databases import new_database
from tests.postgres_server import PostgresServer

NOWHERE = ("no-run", 1, 0, 1)
LONG, SHORT = timedelta(seconds=60), timedelta(milliseconds=200)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "turns.db")
    postgres: PostgresServer = request.getfixturevalue("server")
    return new_database(postgres)


def on(url: str, talk: Callable[[Store, CallOrder, CallOrder], Awaitable[None]]) -> None:
    """Two nodes on one database."""

    async def main() -> None:
        store = await open_store(url)
        try:
            await talk(store, *(CallOrder(store, lambda: datetime.now(UTC)) for _ in range(2)))
        finally:
            await store.close()

    asyncio.run(main())


async def waits(turns: CallOrder, key: str) -> bool:
    try:
        await asyncio.wait_for(turns.others_over(key), 0.4)
    except TimeoutError:
        return True
    return False


def test_another_node_waits_until_the_calls_are_over(url: str) -> None:
    async def talk(store: Store, one: CallOrder, two: CallOrder) -> None:
        await one.begin("a", LONG, NOWHERE)

        assert [await waits(two, "a"), await waits(two, "b"), await waits(one, "a")] == [True, False, False]
        await one.end("a")
        assert (await waits(two, "a"), await store.tokens(ROOT, "", 10)) == (False, [])

    on(url, talk)


def test_the_calls_of_a_node_that_died_are_over_once_they_must_have_timed_out(url: str) -> None:
    async def talk(store: Store, one: CallOrder, two: CallOrder) -> None:
        await one.begin("a", SHORT, NOWHERE)
        began = datetime.now(UTC)
        async with asyncio.timeout(5):
            await two.others_over("a")

        assert datetime.now(UTC) - began >= SHORT

    on(url, talk)


def test_an_attempt_that_was_withdrawn_must_not_call(url: str) -> None:
    async def talk(store: Store, one: CallOrder, two: CallOrder) -> None:
        assert await one.begin("a", LONG, NOWHERE) is False

    on(url, talk)


def test_who_goes_on_with_the_work_of_another_node_takes_its_place(url: str) -> None:
    async def talk(store: Store, one: CallOrder, two: CallOrder) -> None:
        keys = [str(n) for n in range(50)]
        await asyncio.gather(*(one.begin(key, LONG, NOWHERE) for key in keys))
        await asyncio.gather(*(two.begin(key, LONG, NOWHERE) for key in keys))
        await asyncio.gather(*(one.end(key) for key in keys))

        assert [await waits(one, "7"), await waits(two, "7")] == [True, False]
        await one.begin("8", LONG, NOWHERE)
        assert [await waits(one, "8"), await waits(two, "8")] == [False, True]
        await one.end("8")
        await asyncio.gather(*(two.end(key) for key in keys))
        assert await store.tokens(ROOT, "", 100) == []

    on(url, talk)


def test_who_begins_while_the_last_one_leaves_is_announced(url: str) -> None:
    async def talk(store: Store, one: CallOrder, two: CallOrder) -> None:
        await one.begin("a", LONG, NOWHERE)
        await asyncio.gather(one.end("a"), one.begin("a", LONG, NOWHERE))

        assert await waits(two, "a")

    on(url, talk)
