"""A backup is whole, while everything goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.store.errors import BadAddress
from penstock.store.rows import Filter
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin, turn


async def load(store: SqliteStore, stop: asyncio.Event) -> int:
    """Start runs and end the ones before, until told to stop; how many were acknowledged."""
    made = 0
    while not stop.is_set():
        changes = [begin(made), *([turn(made - 1, 1, over=True)] if made else [])]
        assert (await store.commit(changes)).outcomes == ["applied"] * len(changes)
        made += 1
    return made


def test_a_backup_under_load_restores_to_a_whole_store(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, dict[str, int], list[str], int]:
        store, stop = SqliteStore.open(str(tmp_path / "a.db")), asyncio.Event()
        await store.commit([begin(n, size=2000) for n in range(10_000, 10_500)])
        loading = asyncio.ensure_future(load(store, stop))
        while sum((await store.count(Filter())).values()) < 505:
            await asyncio.sleep(0)
        before = sum((await store.count(Filter())).values())
        await store.backup(str(tmp_path / "copy.db"))
        stop.set()
        total = 500 + await loading
        await store.close()
        copy = SqliteStore.open(str(tmp_path / "copy.db"))
        found, wrong = await copy.count(Filter()), await copy.check()
        await copy.close()
        return before, found, wrong, total

    before, found, wrong, total = asyncio.run(scenario())

    assert wrong == []
    assert before <= sum(found.values()) <= total
    assert found["running"] == 501


@pytest.mark.parametrize("inline", [True, False])
def test_a_backup_never_overwrites(tmp_path: Path, inline: bool) -> None:
    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"), options=Options(inline=inline))
        (tmp_path / "there.db").write_text("precious")
        with pytest.raises(BadAddress, match="only to a new file"):
            await store.backup(str(tmp_path / "there.db"))
        with pytest.raises(BadAddress, match="folder that does not exist"):
            await store.backup(str(tmp_path / "nowhere" / "copy.db"))
        await store.close()

    asyncio.run(scenario())

    assert (tmp_path / "there.db").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock", "there.db"}
