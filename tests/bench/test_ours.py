"""What Penstock's own turn makes of what it measures."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from bench.floor.figures import Floor
from bench.peers.common import Orders
from tests.postgres_server import PostgresServer
from tests.suites import first_short

from bench import ours


class Place:
    """One that grows by a thousand bytes with each look, and remembers what was copied."""

    name = "sqlite"

    def __init__(self, url: str) -> None:
        self.url = url
        self.size = 0
        self.copied: list[tuple[str, int]] = []

    async def floor(self, runs: int) -> Floor:
        raise AssertionError("nobody is held beside the floor")

    async def bytes(self) -> int:
        self.size += 1_000
        return self.size

    async def copy(self, run: str, times: int) -> None:
        self.copied.append((run, times))


def test_a_long_past_that_makes_runs_dearer_is_more_than_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each turn by itself: a machine that becomes slower meanwhile is not the past's fault."""
    monkeypatch.setattr(ours, "AGED", 3)
    asked: list[str] = []
    rates = {
        "old": iter([1.0, 1.0, 4_000.0, 2_000.0, 1_000.0]),
        "young": iter([1.0, 5_000.0, 4_000.0, 1_250.0]),
    }

    async def finished(place: object) -> str:
        return "a run"

    async def chains(url: str, runs: int) -> float:
        asked.append(url)
        return next(rates[url])

    monkeypatch.setattr(ours, "a_finished_run", finished)
    monkeypatch.setattr(ours, "chains", chains)
    old = Place("old")

    asyncio.run(ours._aged(old, Place("young"), 100, 7))

    told = {line["work"]: line["value"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert told == {"W6 bytes": 10.0, "W6 runs": 7, "W6 after": 2_000.0, "W6": 1.25}
    assert old.copied == [("a run", 7)]
    assert asked[3:] == ["old", "young", "young", "old", "old", "young"]


@pytest.mark.parametrize("store", first_short(["sqlite", "postgresql"]))
def test_what_has_a_past_is_held_beside_a_store_of_the_same_kind(
    store: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ours, "FIRST", 10)
    monkeypatch.setenv("BENCH_PAST", "2000")
    url = request.getfixturevalue("server").create_database() if store == "postgresql" else ""
    asked: dict[str, Any] = {
        "folder": str(tmp_path),
        "began": 0,
        "store": store,
        "url": url,
        "runs": 120,
        "fans": [],
        "singles": 0,
    }
    orders = Orders(json.dumps({**asked, "idle": 0}))

    ours._past(ours.place_of(orders), orders)

    told = {line["work"]: line["value"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(told) == {"W6 bytes", "W6 runs", "W6 after", "W6"}
    assert all(value > 0 for value in told.values())


def test_postgresql_has_its_files_on_the_disk_that_is_measured() -> None:
    server = PostgresServer(folder="/var/tmp")
    try:
        assert str(server._home).startswith("/var/tmp/")
    finally:
        server.remove()
