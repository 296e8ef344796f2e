"""What the hot paths do, counted: calls of our functions, SQL statements and rows a step. Fails where it grew.

Nothing is timed: loops, stores and clocks are simulated, so that every machine counts the same. The budgets are in
scripts/hot_paths.json; `make budgets` writes them anew, and the change shows in the diff what a commit costs or saves.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import apsw

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.engine.workflows import CHAIN, DEFINITIONS, FAN, tasks
from bench.net.contenders.penstock import works
from bench.net.work import Work
from tests.postgres_server import PostgresServer
from tests.simloop import SimLoop, run_simulated

from penstock.engine.engine import Engine
from penstock.store.postgres.database import Session
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import Change, Committed
from penstock.store.sqlite.store import SqliteStore

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = Path(__file__).with_suffix(".json")
SOURCES = tuple(str(ROOT / name) for name in ("src/penstock", "bench", "tests/simloop.py"))
"""Penstock, and the load and the event loop that drive it."""
UNNAMED = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
"""Newer Pythons run some of these without a call: they do not count."""
ROOM = 1.02
"""A count may be this much of its budget: small differences between versions of Python and of packages."""
TOGETHER = 200
WIDE = 500
FIRST_RUN = 4
"""Commits of the run that goes before and does not count: its start, and an end a step."""
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)

Counts = dict[str, float]
Recorded = list[list[Change]]


class Calls:
    """Counts calls of functions in SOURCES while it is on."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Calls:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code.co_filename.startswith(SOURCES) and code.co_name not in UNNAMED:
                self.count += 1


class Statements:
    """Counts statements of every SQLite connection that is opened while it is on, and the rows they change."""

    def __init__(self) -> None:
        self.count = 0
        self._connections: list[apsw.Connection] = []

    def __enter__(self) -> Statements:
        apsw.connection_hooks.append(self._opened)
        return self

    def __exit__(self, *_: object) -> None:
        apsw.connection_hooks.remove(self._opened)
        self._connections.clear()

    def _opened(self, db: apsw.Connection) -> None:
        self._connections.append(db)
        db.exec_trace = self._executed

    def _executed(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        self.count += 1
        return True

    @property
    def rows(self) -> int:
        return sum(db.total_changes() for db in self._connections)


class VirtualTime:
    """The store's clock, moved by the loop."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return BEGAN + timedelta(seconds=self._loop.time())


def counts() -> Counts:
    """All of them, a step or an element each."""
    return {**in_memory(), **durable(), **asyncio.run(on_postgres())}


def in_memory() -> Counts:
    """The bare kernel, and whole runs without a store."""
    made = works()
    names = ("fire chain 50", "fire fork-join 50", "run small", "run mixed", "run chain 50")
    return {f"memory: {name}: calls a step": _calls(made[name]) for name in names}


def _calls(work: Work) -> float:
    work.run()  # what is made only once
    with Calls() as calls:
        work.run()
    return calls.count / work.steps


def durable() -> Counts:
    """Runs on SQLite: one alone, many at once, a fan."""
    found: Counts = {}
    for name, workflow, input, runs, steps in (
        ("one run", CHAIN, None, 1, 3),
        (f"{TOGETHER} runs at once", CHAIN, None, TOGETHER, 3 * TOGETHER),
        (f"a fan of {WIDE}", FAN, {"items": list(range(WIDE))}, 1, WIDE),
    ):
        counting = partial(_counted, workflow=workflow, input=input, runs=runs)
        run_simulated(counting, order="fifo")  # what is made only once in a process
        calls, statements, rows = run_simulated(counting, order="fifo")
        of = "an element" if workflow == FAN else "a step"
        found[f"SQLite: {name}: calls {of}"] = calls / steps
        found[f"SQLite: {name}: statements {of}"] = statements / steps
        found[f"SQLite: {name}: rows {of}"] = rows / steps
    return found


async def _counted(
    loop: SimLoop, workflow: str, input: Any, runs: int, record: Recorded | None = None
) -> tuple[int, int, int]:
    with Statements() as statements:
        store = SqliteStore.open(":memory:", VirtualTime(loop))
        if record is not None:
            _recording(store, record)
        async with Engine(store=store, tasks=tasks(), concurrency=2_000, grace=0, feed=False) as engine:
            for definition in DEFINITIONS:
                await engine.publish(definition)
            await _ended(engine, workflow, {"items": [0, 1]} if workflow == FAN else None, 1)
            before = statements.count, statements.rows
            with Calls() as calls:
                await _ended(engine, workflow, input, runs)
            return calls.count, statements.count - before[0], statements.rows - before[1]


async def _ended(engine: Engine, workflow: str, input: Any, runs: int) -> None:
    started = await asyncio.gather(*(engine.start(workflow, input=input) for _ in range(runs)))
    for run in await asyncio.gather(*(engine.wait(each, 60) for each in started)):
        if run["status"] != "succeeded":
            raise RuntimeError(f"run '{run['id']}' ended as {run['status']}: {run['error']}")


def _recording(store: SqliteStore, record: Recorded) -> None:
    commit = store.commit

    async def recorded(changes: Sequence[Change]) -> Committed:
        record.append(list(changes))
        return await commit(changes)

    store.commit = recorded  # type: ignore[method-assign]


# -- PostgreSQL: what was written to SQLite is written there, batch by batch -------------------------------


async def on_postgres() -> Counts:
    """Statements a step of the same changes. A socket cannot be simulated: only the store takes part."""
    server = PostgresServer().start()
    try:
        return {
            f"PostgreSQL: {name}: statements a step": await _replayed(server.create_database(), runs)
            / (3 * runs)
            for name, runs in (("one run", 1), (f"{TOGETHER} runs at once", TOGETHER))
        }
    finally:
        server.remove()


async def _replayed(url: str, runs: int) -> int:
    """Statements of all commits of so many chains, with the ends of their transactions."""
    batches: Recorded = []
    await asyncio.to_thread(run_simulated, lambda loop: _counted(loop, CHAIN, None, runs, batches), 0, "fifo")
    store = await PostgresStore.open(url)
    try:
        with sent() as count:
            for number, changes in enumerate(batches):
                if number == FIRST_RUN:
                    count.clear()
                committed = await store.commit(changes)
                if set(committed.outcomes) != {"applied"}:
                    raise RuntimeError(f"PostgreSQL did not apply what SQLite did: {committed.outcomes}")
        return len(count)
    finally:
        await store.close()


@contextmanager
def sent() -> Iterator[list[str]]:
    """Every statement that goes to PostgreSQL."""
    said: list[str] = []
    kept = {name: getattr(Session, name) for name in ("fetch", "execute", "fetchval", "fetchrow")}

    def counting(name: str) -> Any:
        async def call(self: Any, query: str, *args: Any, **more: Any) -> Any:
            said.append(query)
            return await kept[name](self, query, *args, **more)

        return call

    with patch.multiple(Session, **{name: counting(name) for name in kept}):
        yield said


# -- judging -----------------------------------------------------------------------------------------------


def judge(found: Counts, budgets: Counts) -> tuple[list[str], list[str]]:
    """What is wrong, and what has become better, one sentence each."""
    wrong = [f"'{name}' has no budget: run `make budgets`" for name in found if name not in budgets]
    wrong += [
        f"'{name}' has a budget and is not counted: run `make budgets`"
        for name in budgets
        if name not in found
    ]
    better = []
    for name in (each for each in found if each in budgets):
        now, then = found[name], budgets[name]
        if now > then * ROOM + 1e-9:
            wrong.append(f"{name}: {now:.2f}, {then:.2f} at most: the hot path grew by {_percent(now, then)}")
        elif now < then / ROOM:
            better.append(f"{name}: {now:.2f} instead of {then:.2f}")
    return wrong, better


def _percent(now: float, then: float) -> str:
    return f"{100 * (now / then - 1):.0f} %" if then else f"{now:.2f}"


def write(found: Counts, path: Path = BUDGETS) -> None:
    rounded = {name: round(value, 3) for name, value in found.items()}
    path.write_text(json.dumps(rounded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    found = counts()
    if "--write" in arguments:
        write(found)
        print(f"hot paths: wrote {BUDGETS.name}")
        return 0
    wrong, better = judge(found, json.loads(BUDGETS.read_text(encoding="utf-8")))
    for line in wrong:
        print(f"hot paths: {line}")
    if wrong:
        print("hot paths: if that is worth it, `make budgets` writes the budgets anew; say why in the commit")
        return 1
    for line in better:
        print(f"hot paths: {line}; `make budgets` keeps it so")
    print(f"hot paths: {len(found)} counts within their budgets")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
