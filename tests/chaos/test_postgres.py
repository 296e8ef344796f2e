"""Three nodes, four workers and a PostgreSQL under load, killed, stopped and crashed again and again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from tests.chaos import carrying
from tests.chaos.client import Client
from tests.chaos.crew import Crew, Member
from tests.chaos.figures import Record, tell
from tests.chaos.judging import late_results, most_succeeded, settle
from tests.chaos.nemesis import LEAST, SCALE, SEED, Kind, Nemesis, crashes_of, faults_of, scaled
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.long(
    "test_c1_n14_what_was_acknowledged_survives_crashes_and_the_store_goes_on",
    "test_every_promise_holds_in_many_small_worlds",
)

HERE = Path(__file__).parent
SECONDS = 16.0 * SCALE
FAULTS: dict[Kind, int] = scaled({"kill": 10, "stop": 3, "freeze": 2, "crash": 2})
STOP = (3.0, 5.0)
"""Seconds that a worker is stopped: longer than its leases of two."""
EVERY = 0.2
"""Seconds between two starts."""
LONGEST = 900.0
"""Seconds that there is load at most; it ends with the last blow."""


def crew_of(url: str, folder: Path) -> Crew:
    (folder / "ledger").mkdir()
    tasks = ("--tasks", HERE / "carrying.py", "--concurrency", 8)
    variables = {"PENSTOCK_DB": url, "CHAOS_LEDGER": str(folder / "ledger")}
    nodes = [Member(f"node{number}", ("server",), folder, variables) for number in range(3)]
    workers = [Member(f"worker{number}", ("worker", *tasks), folder, variables) for number in range(4)]
    return Crew([*nodes, *workers])


async def chaos(server: PostgresServer, folder: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Load and faults, then rest, then the questions. Answers figures, and what was found wrong."""
    began = time.monotonic()
    url = server.create_database()
    crew = crew_of(url, folder)
    try:
        async with Engine(url, tasks=carrying, work=False) as engine:
            await engine.publish(HERE / "carry.yaml")
            await crew.begin()
            client = Client(SEED)
            nemesis = Nemesis(crew, client, {"crash": crashes_of(server)}, lambda: late_results(folder))
            async with asyncio.TaskGroup() as group:
                group.create_task(client.load(engine, LONGEST, EVERY))
                await nemesis.strike_all(faults_of(SEED, SECONDS, FAULTS, STOP))
                client.enough = True
        verdict = await settle(url, client, crew, folder)
    finally:
        crew.kill()
    figures = dict(nemesis.struck) | verdict.figures | {"seconds": time.monotonic() - began}
    return figures, verdict.wrong


def test_kills_stops_and_crashes_lose_nothing_and_double_nothing(
    server: PostgresServer, tmp_path: Path, record_property: Record
) -> None:
    figures, wrong = asyncio.run(chaos(server, tmp_path))

    tell(record_property, "crashes", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["kills of nodes"] + figures["kills of workers"] >= LEAST
    assert min(figures["stops of workers"], figures["stops of nodes"]) >= LEAST
    assert figures["crashes of the database"] >= LEAST
    assert figures["late results rejected"] > 0
    assert most_succeeded(figures)
