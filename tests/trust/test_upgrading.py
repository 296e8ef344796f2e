"""A store that any earlier schema left in the middle of its work is brought up to date, whole, and its runs go on."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest

from penstock import Engine, Out
from penstock.store.errors import NeedsMigration
from penstock.store.open import open_store, schema_at
from penstock.store.postgres.schema import MIGRATIONS
from penstock.store.sqlite.connection import MIGRATIONS as SQLITE_MIGRATIONS
from tests.chaos.checking import read_runs, torn
from tests.postgres_server import PostgresServer
from tests.trust.beside import Tables, beside
from tests.waiting import until

NOW = len(MIGRATIONS)
WORK = """
penstock: 1
name: carry
external: [paid]
steps:
  job: {task: job, with: {order: "${ data.order }"}}
  rest: {task: wait, with: {for: 200ms}}
  do: {task: echo, retries: 2}
  fan: {task: echo, each: "[1, 2]", parallel: 1}
  ship: {task: echo, after: [job, rest, do, fan, paid]}
"""
ALONG = "penstock: 1\nname: along\nsteps:\n  a: {task: set, with: {x: 1}}\n"
RUNS = 3
NEW_COLUMNS = {"task": 4, "workflow": 8}
"""Tables that got a column by that schema, which nobody can fill in afterwards; all else is as it would be."""
GO_ON = (1, 4, NOW - 1)
"""Where runs are brought to their end, too: by way of all steps, of some, and of one."""
UNKNOWN_THEN = {"setting", "worker", "timing"}
"""Tables of the program that has the store open; and how long a few attempts waited, which was not kept once."""


def echo() -> int:
    return 1


def job(order: str) -> Out:
    return Out(correlate={"order": order})


async def fill(url: str) -> list[str]:
    """Runs at work, with tasks that nobody has taken, timers, keys, labels, an event that came early; and one over."""
    async with Engine(url, tasks={"job": job}, feed=False, grace=0) as engine:
        await engine.publish(WORK)
        await engine.publish(ALONG)
        runs: list[str] = [
            await engine.start(
                "carry",
                input={"number": n, "order": f"o{n}"},
                labels={"shop": f"s{n}"},
                subject=f"order {n}",
                idempotency_key=str(n),
            )
            for n in range(RUNS)
        ]
        for run in runs:
            await until(
                partial(engine.show, run), "the key of a run", so=lambda view: "order" in view["keys"]
            )
        await engine.emit("paid", {"n": 1}, key={"order": "o0"}, id="first")
        await engine.emit("paid", {"n": 1}, key={"order": "nobody"}, id="early")
        await engine.wait(await engine.start("along"), 20)
        await engine.pause(runs[1])
        return runs


class OldFile:
    """SQLite files of earlier schemas."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.first = str(folder / "first.db")

    async def at(self, schema: int) -> str:
        """A store of that schema with the rows of the first one, as far as there are tables for them."""
        path = str(self._folder / f"schema{schema}.db")
        db = apsw.Connection(path)
        for step in SQLITE_MIGRATIONS[:schema]:
            db.execute(step.sql)
        db.execute("ATTACH ? AS full", (self.first,))
        listed = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'setting'"
        for (table,) in db.execute(listed).fetchall():
            names = [row[1] for row in db.execute(f"PRAGMA main.table_info('{table}')")]
            same = ", ".join(names)
            db.execute(f"INSERT INTO main.{table} ({same}) SELECT {same} FROM full.{table}")
        db.execute("INSERT INTO main.setting VALUES ('schema', ?)", (str(schema),))
        db.close()
        return path


class OldServer:
    """PostgreSQL databases of earlier schemas."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.first = server.create_database()

    async def at(self, schema: int) -> str:
        url = self._server.create_database()
        source, db = await asyncpg.connect(self.first), await asyncpg.connect(url)
        for step in MIGRATIONS[:schema]:
            await db.execute(step.sql)
        listed = (
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name <> 'setting'"
        )
        columns: dict[str, list[str]] = {}
        for table, name in await db.fetch(listed):
            columns.setdefault(table, []).append(name)
        for table, names in columns.items():
            rows = await source.fetch(f"SELECT {', '.join(names)} FROM {table}")
            places = ", ".join(f"${n + 1}" for n in range(len(names)))
            await db.executemany(
                f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})",
                [tuple(row.values()) for row in rows],
            )
        await db.execute("INSERT INTO setting VALUES ('schema', $1)", str(schema))
        await source.close()
        await db.close()
        return url


async def seen(url: str) -> Tables:
    async with beside(url) as rows:
        return {name: found for name, found in (await rows.tables()).items() if name not in UNKNOWN_THEN}


async def go_on(url: str, runs: list[str]) -> list[str]:
    """How the runs end, and what is wrong with the store then."""
    async with Engine(url, tasks={"echo": echo}, grace=0) as engine:
        await engine.resume(runs[1])
        for number in range(RUNS):
            await engine.emit(
                "paid", {"n": 1}, key={"order": f"o{number}"}, id=f"{number}" if number else "first"
            )
        ends = [str((await engine.wait(run, 30))["status"]) for run in runs]
        store = (await engine.running()).store
        assert (
            await engine.start(
                "carry",
                input={"number": 0, "order": "o0"},
                labels={"shop": "s0"},
                subject="order 0",
                idempotency_key="0",
            )
            == runs[0]
        )
        return ends + await store.check() + list(torn(await read_runs(store), {}))


def test_a_store_of_every_earlier_schema_is_brought_up_to_date_and_goes_on(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    old: Any = OldFile(tmp_path) if kind == "sqlite" else OldServer(request.getfixturevalue("server"))

    async def main() -> None:
        runs = await fill(old.first)
        wanted = await seen(old.first)
        for schema in range(1, NOW):
            url = await old.at(schema)
            with pytest.raises(NeedsMigration):
                await open_store(url, migrate=False)
            assert await schema_at(url) == schema
            await (await open_store(url)).close()
            found = await seen(url)
            assert {name for name in wanted if found[name] != wanted[name]} == {
                table for table, since in NEW_COLUMNS.items() if schema < since
            }, f"schema {schema}"
            if schema in GO_ON:
                assert await go_on(url, runs) == ["succeeded"] * RUNS, f"schema {schema}"

    asyncio.run(main())
