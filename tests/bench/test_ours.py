"""What Penstock's own turn makes of what it measures."""

from __future__ import annotations

import asyncio
import json

import pytest

from bench import ours
from penstock.bench.engine.figures import Saturated
from penstock.bench.floor.figures import Floor
from penstock.testing.postgres import PostgresServer


class Place:
    """One that grows by a thousand bytes with each look, and remembers what was copied."""

    name, url = "sqlite", "nowhere"

    def __init__(self) -> None:
        self.size = 0
        self.copied: list[tuple[str, int]] = []

    async def floor(self, runs: int) -> Floor:
        raise AssertionError("the rounds are given")

    async def bytes(self) -> int:
        self.size += 1_000
        return self.size

    async def copy(self, run: str, times: int) -> None:
        self.copied.append((run, times))


def test_a_long_past_that_makes_runs_dearer_is_more_than_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the floor: a machine that became slower meanwhile is not the past's fault."""
    floor = Floor(10_000.0, (1.0,)), Floor(5_000.0, (1.0,))
    found = iter([Saturated(5_000.0, (floor[0], floor[0])), Saturated(2_000.0, (floor[1], floor[1]))])
    place = Place()

    async def saturated(place: object, runs: int, rounds: int) -> Saturated:
        return next(found)

    async def finished(place: object) -> str:
        return "a run"

    async def chains(url: str, runs: int) -> float:
        return 1.0

    for name, does in (("saturated", saturated), ("a_finished_run", finished), ("chains", chains)):
        monkeypatch.setattr(ours, name, does)
    asyncio.run(ours._aged(place, 100, 7))

    told = {line["work"]: line["value"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert told == {"W6 bytes": 10.0, "W6 runs": 7, "W6 after": 2_000.0, "W6": pytest.approx(0.5 / 0.4)}
    assert place.copied == [("a run", 7)]


def test_postgresql_has_its_files_on_the_disk_that_is_measured() -> None:
    server = PostgresServer(folder="/var/tmp")
    try:
        assert str(server._home).startswith("/var/tmp/")
    finally:
        server.remove()
