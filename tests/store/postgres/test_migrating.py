"""The schema: brought up to date by whoever comes first, and every query fits it."""

from __future__ import annotations

import asyncio

import pytest

from penstock.store.errors import NeedsMigration, NewerSchema, StoreAway, StoreError
from penstock.store.postgres import database
from penstock.store.postgres.database import SQL, Work
from penstock.store.postgres.schema import MIGRATIONS, migrate
from penstock.store.postgres.store import PostgresStore
from penstock.store.sql.migrations import Migration
from tests.store.postgres.making import opened, with_store

NOW = len(MIGRATIONS)
NEXT = (
    *MIGRATIONS,
    Migration(NOW + 1, "9999_more.sql", "CREATE TABLE more (n int); CREATE TABLE yet_more (n int)"),
)


def test_many_nodes_that_start_at_once_make_the_schema_once(url: str) -> None:
    async def one() -> int:
        async with opened(url) as store:
            found: int = (await store.facts())["schema"]
            return found

    async def main() -> list[int]:
        return await asyncio.gather(*(one() for _ in range(4)))

    assert asyncio.run(main()) == [NOW] * 4


def test_two_nodes_that_migrate_at_once_do_each_step_once(url: str) -> None:
    async def main(store: PostgresStore) -> object:
        async with opened(url) as other:
            await asyncio.gather(*(migrate(node.database, True, NEXT) for node in (store, other) * 2))
        return (await store.facts())["schema"]

    assert with_store(url, main) == NOW + 1


def test_an_old_schema_is_told_where_it_may_not_be_changed(url: str) -> None:
    with pytest.raises(NeedsMigration, match="penstock db migrate"):
        with_store(url, lambda store: migrate(store.database, False, NEXT))


def test_a_newer_schema_is_left_alone(url: str) -> None:
    async def main(store: PostgresStore) -> None:
        await migrate(store.database, True, NEXT)
        await PostgresStore.open(url)

    with pytest.raises(NewerSchema):
        with_store(url, main)


def test_a_step_that_fails_leaves_the_schema_as_it_was(url: str) -> None:
    broken = (
        *MIGRATIONS,
        Migration(NOW + 1, "9999_broken.sql", "CREATE TABLE more (n int); SELECT nonsense"),
    )

    async def main(store: PostgresStore) -> object:
        with pytest.raises(StoreError, match="nonsense"):
            await migrate(store.database, True, broken)
        await migrate(store.database, True, NEXT)
        return (await store.facts())["schema"]

    assert with_store(url, main) == NOW + 1


def test_a_step_may_take_longer_than_any_other_statement(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "COMMAND_TIMEOUT", 0.5)
    # Longer than another statement may take.
    slow = (*MIGRATIONS, Migration(NOW + 1, "9999_slow.sql", "SELECT pg_sleep(0.8)"))

    async def main(store: PostgresStore) -> object:
        with pytest.raises(StoreAway):
            # Longer than a statement may take.
            await store.database.transact(lambda work: work.connection.execute("SELECT pg_sleep(0.8)"))
        await migrate(store.database, True, slow)
        return (await store.facts())["schema"]

    assert with_store(url, main) == NOW + 1


def test_every_query_fits_the_schema(url: str) -> None:
    async def prepare(work: Work) -> set[str]:
        for query in SQL.values():
            await work.connection.prepare(query.text)
        return set(SQL)

    assert with_store(url, lambda store: store.database.transact(prepare)) == set(SQL)
