"""C18: a backup and retention while everything goes on: what was acknowledged comes back, and what goes goes whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine, Out
from penstock.flow.model.run import ENDED
from penstock.store.open import open_store, restore_store
from penstock.store.protocol import Store
from penstock.store.rows.rows import Filter
from tests.chaos.checking import Runs, all_ended, read_runs, torn
from tests.postgres_server import PostgresServer
from tests.trust.beside import beside, counts
from tests.waiting import until

WORK = """
penstock: 1
name: carry
external: [go]
result: data.number
defaults: {timeouts: {heartbeat: 5s}}
steps:
  job: {task: job, with: {number: "${ data.number }"}}
  rest: {task: wait, after: job, with: {for: 20ms}}
  fan: {task: echo, after: job, each: "[1, 2]", parallel: 1}
  lone: {task: echo, after: job, serialize: "'one'"}
  child: {task: workflow, after: job, with: {name: small, input: {}}}
  last: {task: echo, after: [rest, fan, lone, child, go]}
"""
SMALL = "penstock: 1\nname: small\nsteps:\n  a: {task: set, with: {x: 1}}\n"
DAYS = {status: timedelta(0) for status in ("succeeded", "failed", "canceled", "timed_out")}
LONG = 30
"""Runs in all, of which each is told to go on when it has begun."""


def job(number: int) -> Out:
    return Out(correlate={"number": str(number)}, output="x" * 5_000, tags={"kind": "load"})


def echo() -> int:
    return 1


TASKS: dict[str, Any] = {"job": job, "echo": echo}


class Load:
    """Somebody who starts runs one after the other; number → the run that was acknowledged."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.runs: dict[int, str] = {}
        self.enough = asyncio.Event()

    async def go(self) -> None:
        number = 0
        while not self.enough.is_set() or number < LONG:
            number += 1
            run = await self._engine.start(
                "carry", input={"number": number}, labels={"n": str(number)}, idempotency_key=str(number)
            )
            self.runs[number] = run
            await self._engine.emit("go", {"n": number}, run=run, id=f"go {number}")

    async def until(self, many: int) -> None:
        await until(lambda: len(self.runs) >= many, f"{many} runs", 60)


@asynccontextmanager
async def loaded(url: str) -> AsyncIterator[tuple[Engine, Store, Load]]:
    """An engine under load; what was begun by then is ended at the end."""
    async with Engine(url, tasks=TASKS, grace=0) as engine:
        await engine.publish(SMALL)
        await engine.publish(WORK)
        store, load = (await engine.running()).store, Load(engine)
        working = asyncio.create_task(load.go())
        try:
            yield engine, store, load
        finally:
            load.enough.set()
            await working
            await all_ended(store)


def right(runs: Runs, wanted: dict[int, str]) -> list[str]:
    """What is wrong with these runs, of which those that are wanted must be there with their result."""
    wrong = list(torn(runs, {}))
    for number, run in wanted.items():
        if run not in runs:
            wrong.append(f"number {number}: run {run} is gone")
        elif (runs[run].snapshot.status, runs[run].snapshot.result) != ("succeeded", number):
            wrong.append(f"number {number}: {runs[run].snapshot.status} with {runs[run].snapshot.result}")
    return wrong


def test_c18_a_backup_under_load_is_worked_on_when_it_is_restored(
    url: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    copy, place = str(tmp_path / "copy"), str(tmp_path / "restored.db")
    if kind == "postgres":
        server: PostgresServer = request.getfixturevalue("server")
        place = server.create_database()

    async def main() -> tuple[list[str], int, int]:
        async with loaded(url) as (_, store, load):
            await load.until(15)
            acknowledged = dict(load.runs)
            await store.backup(copy)
        await restore_store(place, copy)
        restored = await open_store(place)
        under_way = [run for run in (await read_runs(restored)).values() if not run.snapshot.ended]
        wrong = await restored.check()
        async with Engine(store=restored, tasks=TASKS, grace=0) as engine:
            runs = await read_runs(restored)
            for id, ran in runs.items():
                if not ran.snapshot.ended:
                    await engine.emit("go", {"n": ran.number}, run=id, id=f"go {ran.number}")
            await all_ended(restored)
            runs = await read_runs(restored)
            wrong += right(runs, acknowledged) + await restored.check()
            wrong += right(runs, {ran.number: id for id, ran in runs.items()})
        return wrong, len(under_way), len(acknowledged)

    wrong, under_way, acknowledged = asyncio.run(main())

    assert wrong == []
    assert under_way > 0, "some were under way when the backup was made"
    assert acknowledged >= 15


async def under_way(store: Store) -> int:
    """How many runs have not ended."""
    found = await store.count(Filter())
    return sum(count for status, count in found.items() if status not in ENDED)


async def ended(store: Store) -> int:
    return sum((await store.count(Filter())).values()) - await under_way(store)


STANDING = {"setting", "workflow", "version", "worker"}
"""Tables that say nothing of runs."""


def test_c18_retention_under_load_leaves_no_row_of_what_goes_and_all_of_what_stays(url: str) -> None:
    async def main() -> tuple[list[str], dict[str, int], int]:
        gone = 0
        async with Engine(url, tasks=TASKS, grace=0) as engine, beside(url) as rows:
            await engine.publish(SMALL)
            await engine.publish(WORK)
            store, load = (await engine.running()).store, Load(engine)
            stays: list[str] = [await engine.start("carry", input={"number": -n}) for n in range(3)]
            load.enough.set()
            working = asyncio.create_task(load.go())
            while not working.done() or await ended(store) or await under_way(store) > len(stays):
                gone += (await store.retain(DAYS, 50, False)).rows["run"]
                await asyncio.sleep(0.01)  # the pace at which it is cleaned up
            await working
            there = [row.id for row in await store.runs(Filter(limit=1_000))]
            assert sorted(there) == sorted(stays), "nothing else is left"
            for number, run in enumerate(stays):
                await engine.emit("go", {"n": number}, run=run)
            ends = [(await engine.wait(run, 30))["result"] for run in stays]
            assert ends == [0, -1, -2]
            while (await store.retain(DAYS, 50, False)).rows["run"]:
                continue
            left = {name: count for name, count in counts(await rows.tables()).items() if count}
            return await store.check(), left, gone

    wrong, left, gone = asyncio.run(main())

    assert wrong == []
    assert gone >= LONG
    assert left.keys() <= STANDING, left
