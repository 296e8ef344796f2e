"""A node has the plans of the statements that single runs wait for before the first of them."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from penstock.store.postgres import warmup
from penstock.store.postgres.database import Database, read_address
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import Outcome
from tests.postgres_server import PostgresServer
from tests.store.postgres.making import moved, name, started

KEPT = (
    "SELECT count(*) FROM pg_prepared_statements WHERE generic_plans > 0 AND custom_plans = 5"
    " AND statement LIKE '%done AS (%' AND statement LIKE '%made AS (%'"
)
"""How many of the statements that write a whole step, or make a run, are planned for good on this connection."""

ROWS = "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM task) + (SELECT count(*) FROM history)"


def plans(url: str, connections: int = 1, **options: Any) -> list[int]:
    """On each of so many connections of a store, how many statements are planned for good."""

    async def main() -> list[int]:
        store = await PostgresStore.open(url, **options)
        try:
            pool = store.database._pool
            held = [await pool.acquire() for _ in range(connections)]
            found = [await each.fetchval(KEPT) for each in held]
            for each in held:
                await pool.release(each)
            return found
        finally:
            await store.close()

    return asyncio.run(main())


def test_a_node_has_its_plans_before_the_first_run(url: str) -> None:
    assert sorted(plans(url, connections=3, warm_up=True)) == [0, 2, 2]
    assert plans(url + "?pool=1", warm_up=True) == [2]


def test_plans_are_kept_for_as_long_as_the_connection(url: str) -> None:
    """The driver would forget them after five minutes."""
    assert Database(read_address(url)).options()["max_cached_statement_lifetime"] == 0


def test_who_only_looks_does_not_wait_for_plans(url: str) -> None:
    assert plans(url) == [0]


def test_where_nothing_is_prepared_nothing_is_rehearsed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*them: object) -> dict[str, object]:
        raise AssertionError("a rehearsal")

    monkeypatch.setattr(warmup, "begin_values", refuse)

    assert plans(url + "?prepared=off", warm_up=True) == [0]


def test_a_database_that_only_reads_is_opened_all_the_same(url: str) -> None:
    async def main() -> tuple[list[str], bool]:
        store = await PostgresStore.open(url)
        await store.commit([started(name(1))])
        line = await asyncpg.connect(url)
        database = url.rpartition("/")[2]
        await line.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        await store.close()
        again = await PostgresStore.open(url, warm_up=True)
        try:
            return [row.run for row in await again.load([name(1)]) if row], again.database.prepared
        finally:
            await again.close()
            await line.execute("SET default_transaction_read_only = off")
            await line.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
            await line.close()

    assert asyncio.run(main()) == ([name(1)], True)


@pytest.mark.parametrize(
    "held", ["SELECT FROM setting WHERE name = 'paused' FOR UPDATE", "LOCK TABLE run IN SHARE MODE"]
)
def test_a_node_starts_also_while_somebody_has_to_himself_what_runs_write(url: str, held: str) -> None:
    async def main() -> list[str]:
        first = await PostgresStore.open(url)
        await first.commit([started(name(1))])
        line = await asyncpg.connect(url)
        async with line.transaction(), asyncio.timeout(5):
            await line.execute(held)
            store = await PostgresStore.open(url, warm_up=True)
            found = [row.run for row in await store.load([name(1)]) if row]
            await store.close()
        await line.close()
        await first.close()
        return found

    assert asyncio.run(main()) == [name(1)]


def test_a_connection_that_does_not_answer_is_given_up_and_the_next_one_works(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(connection: Any) -> None:
        await connection.execute("SELECT pg_sleep(60)")  # it does not answer

    async def main() -> list[object]:
        async with asyncio.timeout(10):
            store = await PostgresStore.open(url, warm_up=True)
            found = await store.load([name(1)])
            await store.close()
            return list(found)

    monkeypatch.setattr(warmup, "WARMUP_TIMEOUT", 0.2)
    monkeypatch.setattr(warmup, "_call", never)

    assert asyncio.run(main()) == [None]


def test_where_the_server_has_room_for_one_connection_a_node_starts_with_that_one(
    server: PostgresServer,
) -> None:
    url = server.create_database()
    address, _, database = url.rpartition("/")
    server.query("CREATE ROLE small LOGIN CONNECTION LIMIT 1")
    try:
        server.query(f"ALTER DATABASE {database} OWNER TO small")
        server.query("GRANT ALL ON SCHEMA public TO small", database)

        assert plans(f"postgresql://small@{address.rpartition('@')[2]}/{database}", warm_up=True) == [2]
    finally:
        server.query(f"DROP DATABASE {database} WITH (FORCE)")
        server.query("DROP ROLE small")


def test_a_rehearsal_leaves_nothing_behind(url: str) -> None:
    async def main() -> tuple[int, list[Outcome]]:
        store = await PostgresStore.open(url, warm_up=True)
        try:
            rows = await store.database._pool.fetchval(ROWS)
            told = [
                *(await store.commit([started(name(1), has_extras=False)])).outcomes,
                *(await store.commit([moved(name(1), 1)])).outcomes,
            ]
            return rows, told
        finally:
            await store.close()

    assert asyncio.run(main()) == (0, ["applied", "applied"])
