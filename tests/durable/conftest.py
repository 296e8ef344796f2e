"""The engine on every store: one that lives in memory on virtual time, SQLite on a disk, and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.store.open import open_store
from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.simloop import SimLoop, run_simulated

Main = Callable[[Engine], Awaitable[Any]]


class LoopTime:
    """The virtual time of a simulation."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._loop.time())


class Place:
    """Where an engine keeps its runs. `unit` is a short time there: seconds where time is virtual."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.unit = 0.3
        self.virtual = False

    def run(self, main: Main, tasks: Any = None, **more: Any) -> Any:
        """What `main` comes to, with an engine of its own."""

        async def play() -> Any:
            async with Engine(self.url, tasks=tasks or {}, **more) as engine:
                return await main(engine)

        async def bounded() -> Any:
            async with asyncio.timeout(90):
                return await play()

        return asyncio.run(bounded())


class VirtualPlace(Place):
    """In memory, on virtual time: days pass in no time, and every run is the same."""

    def __init__(self) -> None:
        super().__init__("memory:")
        self.unit = 10.0
        self.virtual = True

    def run(self, main: Main, tasks: Any = None, **more: Any) -> Any:
        async def play(loop: SimLoop) -> Any:
            store = await open_store("memory:", clock=LoopTime(loop))
            async with Engine(store=store, tasks=tasks or {}, **more) as engine:
                return await main(engine)

        return run_simulated(play)


VIRTUAL = pytest.mark.parametrize("place", ["virtual"], indirect=True)
"""Where no store could matter. Its store is SQLite, in memory."""


FILE = pytest.mark.parametrize("place", ["virtual", "sqlite"], indirect=True)
"""Where PostgreSQL could not matter, but that time and threads are real might."""


@pytest.fixture(params=["virtual", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "virtual":
        return VirtualPlace()
    if request.param == "sqlite":
        return Place(str(tmp_path / "penstock.db"))
    server: PostgresServer = request.getfixturevalue("server")
    return Place(new_database(server))
