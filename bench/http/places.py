"""Where the service is measured: the stores of the engine's benchmark, with a past for lists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import asyncpg

from bench.engine import places as engine
from bench.http.past import POSTGRES, SQLITE, ranges, statements

_TABLES = ("run", "run_label", "run_key", "rest")


@contextmanager
def places(db: str | None) -> Iterator[list[engine.Place]]:
    with engine.places(db) as found:
        yield found


def fill(place: engine.Place, run: str, times: int) -> None:
    """Make as many runs as are wanted of one that has ended. Nobody has the store open meanwhile."""
    if isinstance(place, engine.PostgresPlace):
        asyncio.run(_fill_postgres(place.url, run, times))
    else:
        _fill_sqlite(place.url, run, times)


def _fill_sqlite(path: str, run: str, times: int) -> None:
    db = apsw.Connection(path)
    try:
        tables = {
            table: [name for _, name, *_ in columns]
            for table in _TABLES
            if (columns := list(db.execute(f"PRAGMA table_info({table})")))
        }
        for first, last in ranges(times):
            with db:
                for text in statements(tables, SQLITE):
                    db.execute(text, (first, last, run)).fetchall()
        db.execute("ANALYZE").fetchall()
    finally:
        db.close()


async def _fill_postgres(url: str, run: str, times: int) -> None:
    line = await asyncpg.connect(url)
    try:
        tables = {}
        for table in _TABLES:
            rows = await line.fetch(
                "SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema()"
                " AND table_name = $1 ORDER BY ordinal_position",
                table,
            )
            if rows:
                tables[table] = [row[0] for row in rows]
        for first, last in ranges(times):
            for text in statements(tables, POSTGRES):
                await line.execute(text, first, last, run, timeout=600)
        await line.execute("VACUUM ANALYZE", timeout=600)
    finally:
        await line.close()
