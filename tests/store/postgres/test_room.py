"""A run that goes on finds room on its page: no index is written for it."""

from __future__ import annotations

import asyncio

import asyncpg

from penstock.store.postgres.store import PostgresStore
from tests.store.postgres.making import moved, name, started
from tests.waiting import until

RUNS = 400
HEAD = bytes(120)
"""About what a small run keeps of its state."""
TOLD = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'run'"


def test_runs_that_go_on_together_stay_on_their_pages(url: str) -> None:
    async def main() -> tuple[int, int]:
        store = await PostgresStore.open(url)
        await store.commit([started(name(number), head=HEAD) for number in range(RUNS)])
        # One step: after it the room is there again only if nobody looks at what was before.
        await store.commit([moved(name(number), 1, head=HEAD) for number in range(RUNS)])
        await store.close()  # only then are all of them counted
        line = await asyncpg.connect(url)
        [told] = await until(
            lambda: line.fetch(TOLD), "figures of all rows", so=lambda rows: rows[0][0] >= RUNS
        )
        await line.close()
        return told[0], told[1]

    written, in_place = asyncio.run(main())
    assert written == RUNS
    assert in_place > 0.95 * written  # with room for less than half of them it were as many
