"""How soon steps begin, as the home page tells it."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

from penstock.runtime.queries.overview import overview_of
from penstock.store.sqlite.store import SqliteStore
from tests.store.builders import NOON, A, B, given, start, task, wish


class Hand:
    """A clock that is set."""

    at = NOON

    def now(self) -> datetime:
        return self.at


def test_a_run_with_very_many_attempts_is_looked_at_like_any_other() -> None:
    """Thousands of them, of each of hundreds of runs, were read for a page that everybody looks at."""

    async def scenario() -> Any:
        clock = Hand()
        store = SqliteStore.open(":memory:", clock)
        await given(store, start(A, tasks=tuple(task(firing) for firing in range(300))))
        await store.lease(wish(300))
        await given(store, start(B, tasks=tuple(task(firing) for firing in range(10))))
        clock.at += timedelta(seconds=9)
        await store.lease(wish(10))
        found = await overview_of(store, NOON - timedelta(hours=1), NOON + timedelta(hours=1))
        await store.close()
        return found["start"]

    found = asyncio.run(scenario())
    assert (found["p50"], found["p90"]) == (0.0, 9.0)
