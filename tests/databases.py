"""Databases of PostgreSQL with the tables of Penstock, copied from one: making them takes longer than most tests."""

from __future__ import annotations

import asyncio
from functools import cache

from penstock.store.open import open_store
from tests.postgres_server import PostgresServer


def new_database(server: PostgresServer) -> str:
    """The address of a new database in which nothing has happened yet."""
    return server.create_database(_template(server))


@cache
def _template(server: PostgresServer) -> str:
    async def make() -> None:
        await (await open_store(url)).close()

    url = server.create_database()
    asyncio.run(make())
    return url
