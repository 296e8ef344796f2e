"""The control of the failovers: with a standby that is not waited for, acknowledged runs are lost, and that is seen."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.store.errors import StoreAway
from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.chaos.checking import Runs, lost, read_runs
from tests.chaos.client import Client
from tests.chaos.cluster import Cluster
from tests.chaos.figures import Record, tell
from tests.chaos.nemesis import SEED
from tests.chaos.network import Network
from tests.chaos.rooms import NETWORK, can_make, run_in
from tests.waiting import until

pytestmark = pytest.mark.long("test_each_checker_finds_what_is_broken")

HERE = Path(__file__).parent
BEFORE, AFTER = 5, 5
"""Runs that are started before the standby is cut off, and after it."""


async def control() -> dict[str, Any]:
    """Starts, a standby that lags, a failover. The figures."""
    began, client = time.monotonic(), Client(SEED)
    async with Network() as network, Cluster.begin(network, synchronous=False) as cluster:
        url = await asyncio.to_thread(cluster.primary.server.create_database)
        database = url.rpartition("/")[2]
        async with Engine(url, tasks={}, work=False) as engine:
            await engine.publish(HERE / "carry.yaml")
            for number in range(BEFORE):
                await client.start(engine, number)
            await cluster.in_step()
            network.cut(cluster.standby.place)
            for number in range(BEFORE, BEFORE + AFTER):
                await client.start(engine, number)
        store = await open_store(cluster.address_of_both(database))
        await asyncio.to_thread(cluster.primary.server.kill)
        await cluster.drop_what_is_under_way()
        network.mend(cluster.standby.place)
        await cluster.promote()
        try:
            runs = await read_when_back(store)
        finally:
            await store.close()
    gone = [said for said in lost(runs, client.acknowledged) if "is not there" in said]
    return {
        "acknowledged runs that an asynchronous standby lost": len(gone),
        "failovers: primary killed": 1,
        "seconds": time.monotonic() - began,
    }


async def read_when_back(store: Store) -> Runs:
    """What is at the server that was promoted: a store whose address names both finds it by itself."""

    async def read() -> Runs | None:
        with contextlib.suppress(StoreAway):
            return await read_runs(store)
        return None

    found: Runs | None = await until(
        read, "the server that was promoted", so=lambda runs: runs is not None, pause=0.2
    )
    assert found is not None
    return found


def test_what_a_standby_that_is_not_waited_for_loses_is_found(record_property: Record) -> None:
    figures = run_in(NETWORK if can_make(NETWORK) else 0, lambda: asyncio.run(control()))

    tell(record_property, "control: a standby that is not waited for", figures)
    assert figures["acknowledged runs that an asynchronous standby lost"] == AFTER
