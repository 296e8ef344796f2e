"""One process on a SQLite file, killed again and again under load."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

from penstock import Engine
from penstock.store.open import open_store
from tests.chaos import carrying
from tests.chaos.checking import read_executions, read_runs
from tests.chaos.client import Client
from tests.chaos.crew import LAST, Crew, Member
from tests.chaos.figures import Record, tell
from tests.chaos.judging import figures_of, judge
from tests.chaos.nemesis import LEAST, SCALE, SEED
from tests.waiting import until, within

HERE = Path(__file__).parent
KILLS = 6 * SCALE
RUNS = 8
"""Runs that are started between two kills: only then the file is free."""
BOUND = 180.0
"""Seconds after the last kill within which everything must have ended."""


async def feed(db: str, client: Client, numbers: range) -> None:
    """Start some runs while nobody else has the file."""
    async with Engine(db, tasks=carrying, work=False) as engine:
        for number in numbers:
            await client.start(engine, number)


async def kill_under_load(up: Member, random: Random) -> None:
    """Start it, let it work for a moment, kill it."""
    up.start()
    await until(lambda: up.notes, "the first task", LAST)
    await asyncio.sleep(random.uniform(0.0, 0.4))  # it is killed at any moment of its work
    assert up.send(signal.SIGKILL)
    up.wait()
    up.tend()


async def all_joined(folder: Path, count: int) -> float:
    """Seconds until the last step of each run was begun; the bound where some were not."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    def joined() -> bool:
        runs = {each.run for each in read_executions(folder / "ledger") if each.step == "join"}
        return len(runs) == count

    await within(BOUND, joined, pause=0.1)
    return loop.time() - began


async def chaos(folder: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Runs, kills, more runs, more kills, then rest. Answers figures, and what was found wrong."""
    began = time.monotonic()
    (folder / "ledger").mkdir()
    db, client, random = str(folder / "penstock.db"), Client(SEED), Random(SEED)
    variables = {"PENSTOCK_DB": db, "CHAOS_LEDGER": str(folder / "ledger"), "CHAOS_LONGEST": "0.2"}
    up = Member("up", ("up", "--tasks", HERE / "carrying.py"), folder, variables)
    crew = Crew([up])
    async with Engine(db, tasks=carrying, work=False) as engine:
        await engine.publish(HERE / "carry.yaml")
    try:
        for number in range(KILLS):
            await feed(db, client, range(number * RUNS, (number + 1) * RUNS))
            await kill_under_load(up, random)
        await crew.begin()
        rest = await all_joined(folder, len(client.acknowledged))
        await crew.stop()
    finally:
        crew.kill()
    store = await open_store(db)
    try:
        runs, damage = await read_runs(store), await store.check()
    finally:
        await store.close()
    wrong = judge(runs, client, crew, folder) | {"damage": damage}
    return {
        "kills of engines": KILLS,
        **figures_of(client, crew, folder, runs, wrong),
        "seconds until all ended": rest,
        "seconds": time.monotonic() - began,
    }, wrong


def test_a_process_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing(
    tmp_path: Path, record_property: Record
) -> None:
    figures, wrong = asyncio.run(chaos(tmp_path))

    tell(record_property, "kills of one process", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["kills of engines"] >= LEAST
    assert figures["runs acknowledged"] == figures["runs verified"] == KILLS * RUNS
    assert figures["tasks begun again"] > 0
