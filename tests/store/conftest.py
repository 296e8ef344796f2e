"""Every rule is tried on the reference model, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from penstock.store.protocol import Store
from tests.postgres_server import PostgresServer
from tests.store.places import ModelPlace, Place, PostgresPlace, SqliteFile

LONGEST = 60.0
"""Seconds that one test may take: one that hangs says so."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests that are coroutines, in the loop in which the stores were opened."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj) or "runner" not in pyfuncitem.funcargs:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    runner = pyfuncitem.funcargs["runner"]
    assert isinstance(runner, asyncio.Runner)
    runner.run(asyncio.wait_for(pyfuncitem.obj(**arguments), LONGEST))
    return True


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="session")
def database(runner: asyncio.Runner, server: PostgresServer) -> Iterator[PostgresPlace]:
    """One database for all tests of this process."""
    place = PostgresPlace(server)
    runner.run(place.open())
    yield place
    runner.run(place.close())


@pytest.fixture(params=["model", "sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the stores; a module may leave one out."""
    return str(request.param)


@pytest.fixture
def place(
    kind: str, request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[Place]:
    made: Place
    match kind:
        case "model":
            made = ModelPlace()
        case "sqlite":
            made = SqliteFile(tmp_path)
        case _:
            made = request.getfixturevalue("database")
    runner.run(made.begin())
    yield made
    runner.run(made.end())


@pytest.fixture
def store(place: Place) -> Store:
    return place.store


@pytest.fixture
def other(place: Place) -> Store:
    """Another node of the same installation."""
    return place.other


class Clock:
    """The store's time, in the hand of a test."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def forward(self, seconds: float) -> datetime:
        return await self.place.move(timedelta(seconds=seconds))


@pytest.fixture
def clock(place: Place) -> Clock:
    return Clock(place)
