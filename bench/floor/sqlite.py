"""The floor on SQLite: WAL, synchronous=FULL, one connection, no engine."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from time import perf_counter

import apsw

from bench.floor.figures import BATCH, SINGLES, Floor, State

SCHEMA = """
PRAGMA journal_mode = wal; PRAGMA synchronous = FULL;
CREATE TABLE runs(id INTEGER PRIMARY KEY, workflow INT, version INT, status INT, marking TEXT, seq INT);
CREATE TABLE tasks(id INTEGER PRIMARY KEY, run_id INT, step TEXT, list TEXT, attempt INT, fence INT, lease_until REAL,
                   due REAL, input TEXT);
CREATE INDEX claimable ON tasks(list, due) WHERE lease_until IS NULL;
CREATE TABLE history(run_id INT, seq INT, kind TEXT, data TEXT, at REAL, PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
"""
READ = "SELECT id, marking, seq FROM runs WHERE id IN (SELECT value FROM json_each(?))"

Task = tuple[int, int, str, int]
"""Id, run, step, fence."""


class _Rows:
    """The rows of the floor in a file of their own."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute(SCHEMA).fetchall()
        self._ids = count(1)

    def start(self, runs: Sequence[int]) -> list[Task]:
        """One transaction: runs made, their first task leased here."""
        made = [(next(self._ids), run, "a", 1) for run in runs]
        with self._db as db:
            db.executemany("INSERT INTO runs VALUES (?, 1, 1, 0, '{\"a\": 1}', 1)", [(run,) for run in runs])
            self._make(made)
            db.executemany("INSERT INTO history VALUES (?, 1, 'START', '{}', 0)", [(run,) for run in runs])
        return made

    def complete(self, tasks: Sequence[Task]) -> list[Task]:
        """One transaction: fenced delete, markings and history written, next tasks made and leased here."""
        with self._db as db:
            wanted = json.dumps([task[1] for task in tasks])
            states = {run: State(json.loads(text), seq) for run, text, seq in db.execute(READ, (wanted,))}
            history: list[tuple[int, int, str, str]] = []
            ready = [
                (next(self._ids), run, name, 1)
                for _, run, step, _ in tasks
                for name in states[run].complete(run, step, history)
            ]
            db.executemany(
                "DELETE FROM tasks WHERE id = ? AND fence = ?", [(task[0], task[3]) for task in tasks]
            )
            db.executemany(
                "UPDATE runs SET marking = ?, seq = ?, status = ? WHERE id = ?",
                [(json.dumps(each.marking), each.seq, each.over, run) for run, each in states.items()],
            )
            db.executemany("INSERT INTO history VALUES (?, ?, ?, ?, 0)", history)
            self._make(ready)
        return ready

    def _make(self, tasks: Sequence[Task]) -> None:
        self._db.executemany("INSERT INTO tasks VALUES (?, ?, ?, 'd', 1, ?, 1e18, 0, '{}')", tasks)

    def close(self) -> None:
        self._db.close()


def floor(folder: Path, runs: int, batch: int = BATCH, singles: int = SINGLES) -> Floor:
    """Measure it in `folder`, which must be on the disk that is compared; the file is gone afterwards."""
    path = folder / "floor.db"
    rows = _Rows(path)
    try:
        began = perf_counter()
        queue = deque(rows.start(range(at, min(runs, at + batch))) for at in range(0, runs, batch))
        while queue:
            if made := rows.complete(queue.popleft()):
                queue.append(made)
        seconds = perf_counter() - began
        latency = sorted(_single(rows, runs + number) for number in range(singles))
    finally:
        rows.close()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return Floor(runs / seconds, tuple(latency))


def _single(rows: _Rows, run: int) -> float:
    """Milliseconds of one run by itself: a transaction a step."""
    began = perf_counter()
    tasks = rows.start([run])
    while tasks:
        tasks = rows.complete(tasks)
    return (perf_counter() - began) * 1000
