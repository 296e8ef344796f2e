"""What the machine can do at all: commits of one row, fsyncs, requests that are only greeted."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import apsw
import asyncpg

from bench.http.load import Ask
from bench.http.processes import load, process

UNITS = {
    "fsync": "/s",
    "SQLite commits of one row": "/s",
    "PostgreSQL commits of one row": "/s",
    "hello requests": "/s",
}
"""What is probed, in the order of the table."""


def limits(disk: Path, url: str | None, seconds: float) -> dict[str, float]:
    """Each for so long."""
    found = {"fsync": fsyncs(disk, seconds), "SQLite commits of one row": _sqlite(disk, seconds)}
    if url is not None:
        found["PostgreSQL commits of one row"] = asyncio.run(_postgres(url, seconds))
    found["hello requests"] = _hello(seconds)
    return found


def fsyncs(disk: Path, seconds: float) -> float:
    """Pages written and on the disk, a second."""
    with tempfile.NamedTemporaryFile(dir=disk) as file:
        page = b"x" * 4096

        def one() -> None:
            os.pwrite(file.fileno(), page, 0)
            os.fdatasync(file.fileno())

        return _often(one, seconds)


def _sqlite(disk: Path, seconds: float) -> float:
    with tempfile.TemporaryDirectory(dir=disk) as folder:
        db = apsw.Connection(str(Path(folder) / "limit.db"))
        db.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = FULL; CREATE TABLE t(n)").fetchall()
        try:
            return _often(lambda: db.execute("INSERT INTO t VALUES (1)"), seconds)
        finally:
            db.close()


async def _postgres(url: str, seconds: float) -> float:
    line = await asyncpg.connect(url)
    try:
        await line.execute("DROP TABLE IF EXISTS one_row; CREATE TABLE one_row(n int)")
        began, done = perf_counter(), 0
        while perf_counter() - began < seconds:
            await line.execute("INSERT INTO one_row VALUES (1)")
            done += 1
        rate = done / (perf_counter() - began)
        await line.execute("DROP TABLE one_row")
        return rate
    finally:
        await line.close()


def _hello(seconds: float) -> float:
    with process("node", "hello") as node, process("load", node.hear()) as client:
        load(client, Ask(method="GET", path="/", seconds=seconds / 2))
        return load(client, Ask(method="GET", path="/", seconds=seconds)).per_s


def _often(does: Callable[[], object], seconds: float) -> float:
    began, done = perf_counter(), 0
    while perf_counter() - began < seconds:
        does()
        done += 1
    return done / (perf_counter() - began)
