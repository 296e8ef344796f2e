"""Three nodes, four workers and a PostgreSQL under load, killed, stopped and crashed again and again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.store.opening import open_store
from penstock.store.protocol import Store
from penstock.store.rows import Filter
from penstock.testing.postgres import PostgresServer
from tests.chaos import carrying
from tests.chaos.checking import read_runs
from tests.chaos.client import Client
from tests.chaos.crew import Crew, Member
from tests.chaos.judging import figures_of, judge, tell
from tests.chaos.nemesis import Kind, Nemesis, faults_of

HERE = Path(__file__).parent
SEED = int(os.environ.get("CHAOS_SEED", "20261116"))
SECONDS = 60.0
FAULTS: dict[Kind, int] = {"kill": 48, "stop": 12, "freeze": 5, "crash": 6}
STOP = (3.0, 5.0)
"""Seconds that a worker is stopped: longer than its leases of two."""
EVERY = 0.2
"""Seconds between two starts."""
BOUND = 60.0
"""Seconds after the last fault within which everything must have ended."""


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    server = PostgresServer().start()
    yield server
    server.remove()


def crew_of(url: str, folder: Path) -> Crew:
    (folder / "ledger").mkdir()
    tasks = ("--tasks", HERE / "carrying.py", "--concurrency", 8)
    variables = {"PENSTOCK_DB": url, "CHAOS_LEDGER": str(folder / "ledger")}
    nodes = [Member(f"node{number}", ("server",), folder, variables) for number in range(3)]
    workers = [Member(f"worker{number}", ("worker", *tasks), folder, variables) for number in range(4)]
    return Crew([*nodes, *workers])


async def all_ended(store: Store) -> float:
    """Seconds until no run is under way; the bound where some still are."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while loop.time() < began + BOUND:
        counts = await store.count(Filter())
        if not any(counts.get(status) for status in ("running", "waiting", "stalled")):
            break
        await asyncio.sleep(0.2)
    return loop.time() - began


async def chaos(server: PostgresServer, folder: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Load and faults, then rest, then the questions. Answers figures, and what was found wrong."""
    url = server.create_database()
    crew = crew_of(url, folder)
    try:
        async with Engine(url, tasks=carrying, work=False) as engine:
            await engine.publish(HERE / "carry.yaml")
            await crew.begin()
            client, nemesis = Client(SEED), Nemesis(crew, server)
            async with asyncio.TaskGroup() as group:
                group.create_task(client.load(engine, SECONDS, EVERY))
                group.create_task(nemesis.strike_all(faults_of(SEED, SECONDS, FAULTS, STOP)))
        store = await open_store(url)
        try:
            rest = await all_ended(store)
            await crew.stop()
            runs, damage = await read_runs(store), await store.check()
        finally:
            await store.close()
    finally:
        crew.kill()
    wrong = judge(runs, client, crew, folder) | {"damage": damage}
    figures = figures_of(client, crew, folder, runs, wrong)
    return dict(nemesis.struck) | figures | {"seconds until all ended": rest}, wrong


def test_kills_stops_and_crashes_lose_nothing_and_double_nothing(
    server: PostgresServer, tmp_path: Path
) -> None:
    figures, wrong = asyncio.run(chaos(server, tmp_path))

    tell("chaos-postgres", tmp_path, figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["kills of nodes"] + figures["kills of workers"] >= 40
    assert min(figures["stops of workers"], figures["stops of nodes"]) >= 4
    assert figures["crashes of the database"] >= 5
    assert figures["late reports rejected"] > 0
    assert figures["operations"] - figures["operations that failed"] >= 0.8 * figures["operations"]
