"""ST1 when the power goes: what was acknowledged is there afterwards, and the file is whole."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from pathlib import Path

import apsw
import pytest

from penstock.store.errors import StoreError
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore
from tests.store.sqlite.builders import begin, run_id, turn
from tests.store.sqlite.power import Disk
from tests.trust.figures import LONG, write

COMMITS = 12


async def work(disk: Disk, path: Path, synchronous: str) -> dict[str, int]:
    """Commit until all is done or the power goes; run → the revision that was acknowledged last."""
    acknowledged: dict[str, int] = {}
    options = Options(inline=True, vfs=disk.name, synchronous=synchronous, checkpoint=12)
    try:
        store = SqliteStore.open(str(path), options=options)
    except StoreError:
        return acknowledged
    for number in range(COMMITS):
        changes = [begin(2 * number), begin(2 * number + 1, size=2000)]
        changes += [turn(run, 1) for run in (2 * number - 2, 2 * number - 1) if run >= 0]
        if disk.dead:
            break
        try:
            done = await store.commit(changes)
        except StoreError:
            break
        assert done.outcomes == ["applied"] * len(changes)
        acknowledged |= {change.run: change.revision for change in changes}
    await store.close()
    return acknowledged


def left(folder: Path) -> dict[str, int] | None:
    """What can be read afterwards; None: the file is damaged, in whatever way that shows."""
    db = apsw.Connection(str(folder / "a.db"))
    try:
        return read(db)
    except Exception:
        return None
    finally:
        db.close()


def read(db: apsw.Connection) -> dict[str, int] | None:
    db.execute("PRAGMA synchronous = OFF")
    if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        return None
    if not db.execute("SELECT 1 FROM sqlite_schema").fetchall():
        return {}  # the tables were not made yet
    found = {str(id): int(revision) for id, revision in db.execute("SELECT id, revision FROM run")}
    pages = {run for (run,) in db.execute("SELECT run FROM history")}
    tasks = {run for (run,) in db.execute("SELECT run FROM task")}
    return found if set(found) == pages == tasks else None


def cut(seed: int, folder: Path, made: Path | None, operations: int, synchronous: str) -> str:
    """One power cut: `kept`, `lost` or `damaged`."""
    chance = random.Random(seed)
    before, after = folder / "before", folder / "after"
    for place in (before, after):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    disk = Disk(cut_at=chance.randint(1, operations))
    if made is not None:
        shutil.copy(made, before / "a.db")
        disk.adopt(before / "a.db")
    acknowledged = asyncio.run(work(disk, before / "a.db", synchronous))
    disk.after_cut(chance, after)
    disk.unregister()
    found = left(after)
    if found is None:
        return "damaged"
    kept = all(found.get(run, 0) >= revision for run, revision in acknowledged.items())
    return "kept" if kept else "lost"


def cuts(folder: Path, synchronous: str, fresh: int, grown: int) -> dict[str, int]:
    """Many cuts, each at a random operation, of new files and of files that were there."""
    made = folder / "made.db"
    asyncio.run(SqliteStore.open(str(made), options=Options(inline=True)).close())
    results = {"kept": 0, "lost": 0, "damaged": 0}
    for start, times in ((None, fresh), (made, grown)):
        probe = Disk()
        place = folder / "probe"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if start is not None:
            shutil.copy(start, place / "a.db")
            probe.adopt(place / "a.db")
        assert len(asyncio.run(work(probe, place / "a.db", synchronous))) == 2 * COMMITS
        operations = probe.operations
        probe.unregister()
        for seed in range(times):
            results[cut(seed, folder, start, operations, synchronous)] += 1
    return results


def test_st1_no_acknowledged_commit_is_lost_in_a_power_cut(tmp_path: Path) -> None:
    fresh, grown = (100, 1_400) if os.environ.get(LONG) else (20, 230)
    results = cuts(tmp_path, Options().synchronous, fresh, grown)  # as a store is opened

    write("power", {"power cuts": fresh + grown, "lost": results["lost"] + results["damaged"]})
    assert results == {"kept": fresh + grown, "lost": 0, "damaged": 0}


def test_without_sync_acknowledged_commits_are_lost_so_the_cuts_do_cut(tmp_path: Path) -> None:
    results = cuts(tmp_path, "OFF", fresh=0, grown=40)

    assert results["lost"] + results["damaged"] > 10


@pytest.mark.parametrize(
    "garbage",
    [
        b"no database",
        b"SQLite format 3\0" + bytes(range(256)) * 32,
        b"\xff" * 8192,
    ],
)
def test_a_file_of_garbage_is_damaged(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "a.db").write_bytes(garbage)

    assert left(tmp_path) is None


@pytest.mark.parametrize("wrong", ["revision = 'many'", "id = CAST(x'ff' AS TEXT)", "revision = NULL"])
def test_garbage_in_a_row_is_damage(tmp_path: Path, wrong: str) -> None:
    disk = Disk()
    acknowledged = asyncio.run(work(disk, tmp_path / "a.db", "FULL"))
    disk.unregister()
    db = apsw.Connection(str(tmp_path / "a.db"))
    db.execute("PRAGMA ignore_check_constraints = 1; PRAGMA writable_schema = 1")
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'run'")
    db.close()
    assert left(tmp_path) == acknowledged
    db = apsw.Connection(str(tmp_path / "a.db"))
    db.execute(f"UPDATE run SET {wrong} WHERE id = '{run_id(0)}'")
    db.close()

    assert left(tmp_path) is None


def test_the_probe_reads_back_what_was_committed(tmp_path: Path) -> None:
    disk = Disk()
    acknowledged = asyncio.run(work(disk, tmp_path / "a.db", "FULL"))
    (tmp_path / "after").mkdir()
    disk.after_cut(random.Random(1), tmp_path / "after")
    disk.unregister()

    assert left(tmp_path / "after") == acknowledged
    assert acknowledged[run_id(0)] == 2
