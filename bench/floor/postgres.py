"""The floor on PostgreSQL: a schema of its own, two connections, no engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import asyncpg

from bench.floor.figures import BATCH, SINGLES, Floor, State

CONNECTIONS = 2
DROP = "DROP SCHEMA IF EXISTS floor CASCADE"
SCHEMA = f"""
{DROP}; CREATE SCHEMA floor; SET search_path TO floor;
CREATE TABLE runs(id bigint PRIMARY KEY, workflow int, version int NOT NULL, status smallint, marking jsonb,
  seq int NOT NULL) WITH (fillfactor = 70);
CREATE TABLE tasks(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id bigint, step text, list text, attempt int,
  fence bigint NOT NULL DEFAULT 0, lease_until timestamptz, due timestamptz NOT NULL DEFAULT now(), input jsonb);
CREATE INDEX ON tasks(list, due) WHERE lease_until IS NULL;
CREATE TABLE history(run_id bigint, seq int, kind text, data jsonb, at timestamptz DEFAULT now(),
  PRIMARY KEY (run_id, seq));
"""
CLAIM = """
UPDATE tasks SET lease_until = now() + interval '60s', fence = fence + 1
 WHERE id IN (SELECT id FROM tasks WHERE list = 'd' AND lease_until IS NULL AND due <= now() ORDER BY due LIMIT $1
              FOR UPDATE SKIP LOCKED)
RETURNING id, run_id, step, fence
"""
START = (
    """INSERT INTO runs SELECT x, 1, 1, 0, '{"a": 1}'::jsonb, 1 FROM unnest($1::bigint[]) x""",
    "INSERT INTO tasks(run_id, step, list, attempt, input) SELECT x, 'a', 'd', 1, '{}' FROM unnest($1::bigint[]) x",
    "INSERT INTO history(run_id, seq, kind, data) SELECT x, 1, 'START', '{}' FROM unnest($1::bigint[]) x",
)
END = """
DELETE FROM tasks t USING unnest($1::bigint[], $2::bigint[]) x(id, f) WHERE t.id = x.id AND t.fence = x.f RETURNING t.id
"""
READ = "SELECT id, marking, seq FROM runs WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE"
UPDATE = """
UPDATE runs r SET marking = x.m, seq = x.s, status = x.st
  FROM unnest($1::bigint[], $2::jsonb[], $3::int[], $4::int[]) x(id, m, s, st) WHERE r.id = x.id
"""
HISTORY = """
INSERT INTO history(run_id, seq, kind, data) SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[], $4::jsonb[])
"""
MAKE = """
INSERT INTO tasks(run_id, step, list, attempt, input, lease_until, fence)
SELECT r, s, 'd', 1, '{}', now() + interval '60s', 1 FROM unnest($1::bigint[], $2::text[]) x(r, s)
RETURNING id, run_id, step, fence
"""

Task = Sequence[Any]
"""Id, run, step, fence."""


async def floor(
    url: str, runs: int, batch: int = BATCH, singles: int = SINGLES, connections: int = CONNECTIONS
) -> Floor:
    """Measure it in the schema `floor` of a database; the schema is gone afterwards."""
    lines = [await _connect(url)]
    try:
        await lines[0].execute(SCHEMA)
        lines += [await _connect(url) for _ in range(connections)]
        seconds = await _saturate(lines, runs, batch)
        latency = sorted([await _single(lines[0], runs + number) for number in range(singles)])
        await lines[0].execute(DROP)
    finally:
        for line in lines:
            await line.close()
    return Floor(runs / seconds, tuple(latency))


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url, server_settings={"search_path": "floor"})


async def _saturate(lines: Sequence[Any], runs: int, batch: int) -> float:
    """The seconds that all runs take."""
    done = 0

    async def work(line: Any) -> None:
        nonlocal done
        while done < runs:
            tasks = await line.fetch(CLAIM, batch)
            if not tasks:
                await asyncio.sleep(0.002)
            while tasks:
                ended, tasks = await _complete(line, tasks)
                done += ended

    began = perf_counter()
    for at in range(0, runs, batch):
        await _start(lines[0], range(at, min(at + batch, runs)))
    await asyncio.gather(*map(work, lines[1:]))
    return perf_counter() - began


async def _single(line: Any, run: int) -> float:
    """Milliseconds of one run by itself."""
    began = perf_counter()
    await _start(line, [run])
    tasks = await line.fetch(CLAIM, 1)
    while tasks:
        _, tasks = await _complete(line, tasks)
    return (perf_counter() - began) * 1000


async def _start(line: Any, runs: Sequence[int]) -> None:
    ids = list(runs)
    async with line.transaction():
        for statement in START:
            await line.execute(statement, ids)


async def _complete(line: Any, tasks: Sequence[Task]) -> tuple[int, Sequence[Task]]:
    """One transaction: fenced delete, runs locked in order, markings and history written, next tasks leased here."""
    async with line.transaction():
        ended = await line.fetch(END, [task[0] for task in tasks], [task[3] for task in tasks])
        current = {row[0] for row in ended}
        mine = [task for task in tasks if task[0] in current]
        rows = await line.fetch(READ, sorted({task[1] for task in mine}))
        states = {row[0]: State(json.loads(row[1]), row[2]) for row in rows}
        history: list[tuple[int, int, str, str]] = []
        ready = [(run, name) for _, run, step, _ in mine for name in states[run].complete(run, step, history)]
        each = list(states.values())
        markings, seqs = [json.dumps(one.marking) for one in each], [one.seq for one in each]
        await line.execute(UPDATE, list(states), markings, seqs, [one.over for one in each])
        await line.execute(HISTORY, *map(list, zip(*history, strict=True)))
        made = await line.fetch(MAKE, *map(list, zip(*ready, strict=True))) if ready else []
    return sum(one.over for one in each), made
