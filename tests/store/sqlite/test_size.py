"""N16: what retention deletes is given back to the disk."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from penstock.store.rows.rows import Filter
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin, turn

RUNS = 1200
"""A page each, and more: 5 MB before they go."""


def test_n16_the_file_shrinks_when_runs_go(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, dict[str, int], dict[str, int]]:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        await store.commit([begin(n, size=3000) for n in range(RUNS)])
        await store.commit([turn(n, 1, size=3000, over=True) for n in range(1, RUNS)])
        gone = await store.retain({"succeeded": timedelta(0)}, 10_000, False)
        left = await store.count(Filter())
        await store.close()
        return (tmp_path / "a.db").stat().st_size, {k: v for k, v in gone.rows.items() if v}, left

    size, gone, left = asyncio.run(scenario())

    assert gone == {"run": RUNS - 1, "history": 2 * (RUNS - 1)}
    assert left == {"running": 1}
    assert size < 1_600_000
