"""Clocks that are wrong by hours, and jump: those of processes do not matter, that of the database only delays."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock import Engine
from tests.chaos import carrying
from tests.chaos.alone import Alone, Outcome, shimmed
from tests.chaos.checking import Runs, early, told_by_others
from tests.chaos.client import Client
from tests.chaos.crew import Crew, Member
from tests.chaos.figures import Record, tell
from tests.chaos.judging import late_results, most_succeeded, settle
from tests.chaos.nemesis import LEAST, SCALE, SEED
from tests.chaos.shimmed import CONTROL, Shim
from tests.cli.command import ROOT
from tests.postgres_server import PostgresServer
from tests.waiting import until

pytestmark = pytest.mark.long(
    "tests/simulation/test_simulation.py::test_every_promise_holds_in_many_small_worlds"
)

HERE = Path(__file__).parent
JUMPS = [60, -45, 80, -90, 110] if SCALE > 1 else [60, -45, 110]
"""Minutes that the database's clock is ahead, one after the other. The last is the most: all is due then."""
MORE = range(115, 175, 5)
"""Ahead even more, until somebody was inside of a task when the clock jumped, and came too late."""
FARTHEST = timedelta(minutes=max(MORE) + 5)
WRONG = {"node0": 5.0, "node1": -7.0, "node2": 30.0, "worker0": -26.0, "worker1": 9.0}
"""Hours that the clocks of processes are ahead: more than that of the database ever is."""
EVERY, LONGEST = 0.25, 600.0
"""Seconds between two starts, and that there is load at most; it ends with the last jump."""
EACH, PATIENCE = 8, 120.0
"""Runs that are acknowledged between two jumps, and seconds that they have for it."""


def ahead(runs: Runs) -> dict[str, int]:
    """Whether the jumps were felt at all."""
    hour = datetime.now(UTC) + timedelta(hours=1)
    times = [entry.at for ran in runs.values() for entry in ran.history]
    return {"times in histories that are ahead by an hour": sum(at > hour for at in times)}


# -- PostgreSQL ----------------------------------------------------------------------------------------------


def crew_of(url: str, folder: Path) -> Crew:
    """Processes whose clocks are wrong."""
    (folder / "ledger").mkdir()
    members = []
    for name, hours in WRONG.items():
        control = folder / f"{name}.json"
        control.write_bytes(msgspec.json.encode(Shim(clock=hours * 3600)))
        args = ("server",) if name.startswith("node") else ("worker", "--tasks", HERE / "carrying.py")
        variables = {
            "PENSTOCK_DB": url,
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "CHAOS_LEDGER": str(folder / "ledger"),
            CONTROL: str(control),
        }
        members.append(Member(name, args, folder, variables, program=shimmed))
    return Crew(members)


async def jump(client: Client, set_clock: Callable[[int], Awaitable[None]], late: Callable[[], bool]) -> int:
    """The database's clock, forwards and back, and on until somebody came too `late`; how many times."""
    await more_runs(client)
    for times, minutes in enumerate([*JUMPS, *MORE], start=1):
        await set_clock(minutes)
        await more_runs(client)
        if times >= len(JUMPS) and late():
            break
    return times


async def more_runs(client: Client) -> None:
    """Wait until some more were acknowledged: some of them are under way."""
    wanted = len(client.acknowledged) + EACH
    await until(lambda: len(client.acknowledged) >= wanted, f"{EACH} more runs", PATIENCE)


def clock_of(server: PostgresServer, database: str) -> Callable[[int], Awaitable[None]]:
    """Sets the clock of a database to so many minutes ahead."""

    async def set_clock(minutes: int) -> None:
        await asyncio.to_thread(
            server.query,
            "CREATE OR REPLACE FUNCTION penstock_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
            f" $$SELECT clock_timestamp() + interval '{minutes} minutes'$$",
            database,
        )

    return set_clock


async def shared(server: PostgresServer, folder: Path) -> Outcome:
    """Load and jumps, then rest, then the questions. Answers figures, and what was found wrong."""
    began, since = time.monotonic(), datetime.now(UTC)
    url, client = server.create_database(), Client(SEED)
    crew = crew_of(url, folder)
    try:
        async with Engine(url, tasks=carrying, work=False) as engine:
            await engine.publish(HERE / "carry.yaml")
            await crew.begin()
            async with asyncio.TaskGroup() as group:
                group.create_task(client.load(engine, LONGEST, EVERY))
                clock = clock_of(server, url.rpartition("/")[2])
                jumps = await jump(client, clock, lambda: late_results(folder))
                client.enough = True
        verdict = await settle(url, client, crew, folder)
    finally:
        crew.kill()
    runs = verdict.runs
    strange = {"early": early(runs), "told by others": told_by_others(runs, since, FARTHEST)}
    figures: dict[str, Any] = {
        "jumps of the database's clock": jumps,
        "nodes with a wrong clock": len(WRONG),
    }
    figures |= verdict.figures | ahead(runs) | {"seconds": time.monotonic() - began}
    return figures, verdict.wrong | strange


def test_jumps_of_a_shared_database_and_wrong_clocks_lose_and_double_nothing(
    server: PostgresServer, tmp_path: Path, record_property: Record
) -> None:
    figures, wrong = asyncio.run(shared(server, tmp_path))

    tell(record_property, "clocks on PostgreSQL", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["jumps of the database's clock"] >= LEAST
    assert figures["late results rejected"] > 0
    assert figures["times in histories that are ahead by an hour"] > 0
    assert most_succeeded(figures)


# -- SQLite --------------------------------------------------------------------------------------------------


async def jump_alone(alone: Alone) -> dict[str, Any]:
    async def set_clock(minutes: int) -> None:
        alone.shim(Shim(clock=minutes * 60))

    return {"jumps of the database's clock": await jump(alone.client, set_clock, lambda: True)}


def test_jumps_of_the_clock_of_a_file_lose_and_double_nothing(
    tmp_path: Path, record_property: Record
) -> None:
    alone, since = Alone(tmp_path, tmp_path), datetime.now(UTC)

    figures, wrong = asyncio.run(alone.under_load(EVERY / 2, lambda: jump_alone(alone)))

    runs = alone.runs
    figures |= ahead(runs)
    tell(record_property, "clocks on SQLite", figures)
    assert wrong | {"early": early(runs), "strange": told_by_others(runs, since, FARTHEST)} == {
        name: [] for name in (*wrong, "early", "strange")
    }
    assert figures["jumps of the database's clock"] >= LEAST
    assert figures["times in histories that are ahead by an hour"] > 0
    assert most_succeeded(figures)
