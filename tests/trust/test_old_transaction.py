"""PostgreSQL with a transaction that somebody holds open: what is done with cannot go, and work goes on all the same.

It is held for a second with the tests, for most of a minute in `make trust`. How fast work is handed out is compared
with the time before, on the same machine, and not with a figure.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from msgspec import Struct

from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.postgres_server import PostgresServer
from tests.store.builders import end, ended, lease, start, task
from tests.trust.figures import LONG, write

EACH = 25
"""Runs that are begun, claimed and ended together."""
BEFORE, HELD = 20, (1_500 if os.environ.get(LONG) else 30)
"""Rounds before and while the transaction is open."""
SLOWER = 10.0
"""So many times longer may the middle claim take with the dead rows of all rounds in the way."""


class Work(Struct):
    """A worker that begins runs, claims their tasks and ends them; how long its claims took."""

    store: Store
    claims: list[float] = []
    number: int = 0

    async def round(self) -> None:
        runs = [f"{self.number + n:020x}" for n in range(EACH)]
        self.number += EACH
        await self.store.commit([start(run, tasks=(task(),)) for run in runs])
        began = time.perf_counter()
        leased = await lease(self.store, EACH)
        self.claims.append(time.perf_counter() - began)
        assert len(leased) == EACH, "whatever is ready is handed out"
        await self.store.commit([end(each.lease.run, 1, ended=(ended(each.lease),)) for each in leased])

    async def rounds(self, count: int) -> float:
        """The middle of the claims of so many rounds, in seconds."""
        self.claims = []
        for _ in range(count):
            await self.round()
        return sorted(self.claims)[len(self.claims) // 2]


@asynccontextmanager
async def held(url: str) -> AsyncIterator[None]:
    """Somebody reads, and does not let go."""
    reader: Any = await asyncpg.connect(url)
    try:
        async with reader.transaction(isolation="repeatable_read"):
            await reader.fetchval("SELECT count(*) FROM task")
            yield
    finally:
        await reader.close()


async def dead_of(url: str) -> int:
    """Rows of tasks that are done with and cannot go, by what a vacuum finds."""
    raw: Any = await asyncpg.connect(url)
    try:
        await raw.execute("VACUUM task")
        await raw.execute("SELECT pg_stat_clear_snapshot()")
        return int(await raw.fetchval("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'task'"))
    finally:
        await raw.close()


def test_n11_claims_go_on_behind_a_transaction_that_is_held_open(server: PostgresServer) -> None:
    url = server.create_database()

    async def main() -> tuple[float, float, int, int]:
        store = await open_store(url)
        work = Work(store)
        before = await work.rounds(BEFORE)
        async with held(url):
            while_held = await work.rounds(HELD)
            dead = await dead_of(url)
        await work.rounds(1)
        after = await dead_of(url)
        assert await store.check() == []
        await store.close()
        return before, while_held, dead, after

    before, while_held, dead, after = asyncio.run(main())

    write("old-transaction", {"dead rows behind an old transaction": dead})
    assert dead > EACH, "it was in the way"
    assert after < dead / 2, "and they go when it is over"
    assert while_held < SLOWER * before
