"""Nodes beside one another: all runs are done, each time on an empty database, and the processors are looked at."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bench.engine.workloads import NotDone
from bench.floor.figures import Floor
from bench.nodes import FIRST, gains, rate
from tests.postgres_server import PostgresServer

from bench import nodes

RUNS = 60


def test_one_node_and_two_are_held_beside_the_floor_and_leave_nothing(server: PostgresServer) -> None:
    url = server.create_database()

    found = asyncio.run(gains(url, RUNS, rounds=2))

    assert found["gain"] > 0 < found["floor gain"]
    assert found["of floor"] == found["gain"] / found["floor gain"]
    assert 0 < found["one busy"] <= 100 and 0 < found["two busy"] <= 100
    assert server.query("SELECT count(*) FROM pg_database WHERE datname LIKE 'nodes%'") == "0"


def test_each_round_is_held_against_itself_and_the_median_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each round begins with the other number of nodes."""
    asked: list[int] = []
    rates = {1: iter([100.0, 300.0, 50.0]), 2: iter([150.0, 360.0, 500.0])}
    floors = {1: iter([1000.0, 3000.0, 100.0]), 2: iter([2000.0, 6000.0, 100.0])}

    class Fake:
        def __init__(self, number: int) -> None:
            self.number = number

        async def do(self, runs: int) -> nodes.Rate:
            asked.append(self.number)
            return nodes.Rate(next(rates[self.number]), 50.0)

    @asynccontextmanager
    async def opened(url: str, number: int) -> AsyncIterator[Fake]:
        yield Fake(number)

    async def floored(url: str, runs: int, *, singles: int, connections: int) -> Floor:
        return Floor(next(floors[connections]), (1.0,))

    monkeypatch.setattr(nodes, "open_nodes", opened)
    monkeypatch.setattr(nodes, "floor", floored)

    found = asyncio.run(gains("", RUNS, rounds=3))

    assert asked == [1, 2, 2, 1, 1, 2]
    assert (found["one"], found["two"]) == (100, 360)
    assert (found["floor one"], found["floor two"]) == (1000, 2000)
    assert (found["gain"], found["floor gain"], found["of floor"]) == (1.5, 2.0, 0.75)


def test_runs_that_were_not_done_are_no_figure(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "DONE", f"{nodes.DONE} AND false")

    with pytest.raises(NotDone, match=f"0 runs succeeded instead of {FIRST}"):
        asyncio.run(rate(server.create_database(), RUNS, 1))


def test_a_node_that_says_nothing_is_given_up(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(silent))
    monkeypatch.setattr(nodes, "RUN_TIMEOUT", 0.2)
    began = time.monotonic()

    with pytest.raises(NotDone, match="a node said '' instead of 'ready'"):
        asyncio.run(rate(server.create_database(), RUNS, 2))

    assert time.monotonic() - began < 30


def test_where_the_system_does_not_tell_how_busy_it_is_the_rest_is_measured(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nodes, "STAT", tmp_path / "none")

    found = asyncio.run(rate(server.create_database(), RUNS, 1))

    assert found.runs_per_s > 0
    assert found.busy is None
