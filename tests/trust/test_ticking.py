"""C10: nodes that come back together after hours away start one run for each tick that is to be made up for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.engine.services import EngineServices
from penstock.sources.triggers.lease import NodeLease, Record, TriggerLease, read_record
from penstock.store.open import is_shared, open_store
from penstock.store.protocol import Store
from penstock.store.rows.rows import Filter
from tests.trust.beside import beside
from tests.trust.racing import Gated
from tests.waiting import nothing_happens, until

NODES = 3
AWAY = timedelta(hours=3)
POLICIES = ("all", "latest", "none")
TICKING = """
penstock: 1
name: w_POLICY
source: {kind: schedule, cron: "*/10 * * * *", catch_up: POLICY, overrun: start}
steps:
  a: {task: set, with: {x: 1}}
"""
SHIFTED = """
CREATE OR REPLACE FUNCTION penstock_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT clock_timestamp() + interval '{seconds} seconds' $$
"""


class Shifted:
    """The store's clock, ahead of that of the machine: at first so far that it is five minutes past a tick."""

    def __init__(self) -> None:
        now = datetime.now(UTC)
        into = timedelta(minutes=now.minute % 10, seconds=now.second, microseconds=now.microsecond)
        self.ahead = timedelta(minutes=5) - into

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def set(self, url: str) -> None:
        """Let it be so in the database, too."""
        if is_shared(url):
            async with beside(url) as rows:
                await rows.sql(SHIFTED.format(seconds=self.ahead.total_seconds()))


@asynccontextmanager
async def nodes(url: str, clock: Shifted, many: int, feed: bool) -> AsyncIterator[list[EngineServices]]:
    """On PostgreSQL each with its own connections; a SQLite file belongs to one process, where they share it."""
    alone = not is_shared(url)
    first = await open_store(url, clock=clock) if alone else None
    stores: list[Any] = [Gated(first, True) if first else await open_store(url) for _ in range(many)]
    running = await asyncio.gather(
        *(EngineServices.on(store, {}, shared=True, work=False, feed=feed) for store in stores)
    )
    try:
        yield list(running)
    finally:
        await asyncio.gather(*(each.close() for each in running))
        if first:
            await first.close()


async def ticks(store: Store, policy: str) -> list[str]:
    return sorted(row.subject or "" for row in await store.runs(Filter(workflow=f"w_{policy}", limit=1_000)))


async def taken(store: Store, presence: NodeLease, name: str, kind: str) -> TriggerLease:
    """Hold a feed, whoever else does."""
    rows = await store.tokens(name, "", 1)
    record = read_record(rows[0]) if rows else None
    return TriggerLease(store, name, presence.owner, 0, record or Record(kind=kind))


async def remembered(holding: TriggerLease, record: Record, owner: str | None) -> None:
    """Tell nobody how far a feed is."""
    holding.record = record


@pytest.mark.parametrize("rash", [False, True], ids=["one", "all"])
def test_c10_of_ticks_that_all_missed_each_starts_the_runs_that_its_schedule_says_once(
    url: str, monkeypatch: pytest.MonkeyPatch, rash: bool
) -> None:
    clock = Shifted()
    if rash:
        monkeypatch.setattr(TriggerLease, "take", taken)
        monkeypatch.setattr(TriggerLease, "_write", remembered)

    async def main() -> dict[str, list[str]]:
        await (await open_store(url, clock=clock)).close()
        await clock.set(url)
        async with nodes(url, clock, 1, feed=False) as [only]:
            for policy in POLICIES:
                await only.catalog.publish(TICKING.replace("POLICY", policy), start=True)
        clock.ahead += AWAY
        await clock.set(url)
        async with nodes(url, clock, NODES, feed=True) as all_nodes:
            store = all_nodes[0].store
            await until(lambda: ticks(store, "all"), "18 ticks", 60, so=lambda found: len(found) >= 18)
            await until(lambda: ticks(store, "latest"), "the latest tick", 60)
            await nothing_happens(0.5)  # one that is too many would come now
            return {policy: await ticks(store, policy) for policy in POLICIES}

    found = asyncio.run(main())

    last = clock.now().replace(second=0, microsecond=0)
    last -= timedelta(minutes=last.minute % 10)
    missed = [f"{last - n * timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}" for n in reversed(range(18))]
    assert Counter(found["all"]) == Counter(missed)
    assert found["latest"] == missed[-1:]
    assert found["none"] == []
