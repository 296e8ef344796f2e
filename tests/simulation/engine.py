"""The real engine in the simulation: nodes on one SQLite store in memory that they share like a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

import apsw
from msgspec.structs import replace

from penstock import __version__
from penstock.access.access import Access
from penstock.access.rate_limits import Limiter, Rate
from penstock.api import app, guard
from penstock.api.app import App
from penstock.api.call import Call
from penstock.api.router import Router
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.api.work.worker_registry import WorkerRegistry, behind_engine
from penstock.engine.authoring.loader import Loaded, load
from penstock.engine.engine import Engine
from penstock.engine.services import EngineServices
from penstock.runtime.dispatch.gate import Gate
from penstock.runtime.node import flow_cache
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import encode_offers
from penstock.runtime.node.node import Node
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.sources.triggers.triggers import Triggers
from penstock.store.protocol import Store
from penstock.store.sqlite.connection import SETTINGS, Opened, Options, migrate
from penstock.store.sqlite.store import SqliteStore
from penstock.store.sqlite.transaction_runner import MEMORY
from penstock.workers.execute.threads import Threads
from tests.faults import watched_gate
from tests.simulation.nodes import SimNode, Surroundings
from tests.store.builders import publish

T = TypeVar("T")

RATE = Rate(4, 5, "4 a second for each token")
"""How fast a customer may ask: slow enough that some are refused."""

DRAIN = 10.0
"""Seconds that requests under way have when a node stops."""

NO_KEYS = Path("/nonexistent/penstock.key")
"""There are no secrets in a simulation."""

SPOILED = "spoiled"
"""The run of what nobody can read: there is none of that name."""


class Belled:
    """A store with a bell between its nodes, which SQLite does not have because nobody else has the file."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ears: list[asyncio.Future[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def notify(self, what: str, runs: Sequence[str] = ()) -> None:
        if what == "runs":
            return  # nobody looks on
        ears, self._ears = self._ears, []
        for ear in ears:
            if not ear.done():
                ear.set_result(what)

    async def listen(self, timeout: timedelta) -> str | None:
        ear: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._ears.append(ear)
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                return await ear
        except TimeoutError:
            return None


class _Clock:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now


class Here:
    """Instead of threads, which would bring another order at every run."""

    async def result_of(self, call: Callable[[], T]) -> T:
        return call()


class EngineNode:
    """A node with all that a server has but its socket: the runtime, the feeders, the whole API."""

    node: Node
    gate: Gate

    def __init__(self, store: Store, surroundings: Surroundings) -> None:
        self._store, self._around = store, surroundings
        self._open, self._quiet = 0, asyncio.Event()

    async def open(self) -> None:
        clock = StoreClock(await self._store.now(), self._around.monotonic)
        self.node = Node(self._store, clock, shared=True, ids=self._around.new_id)
        self.gate = watched_gate(self.node.dispatch, self._around.watch)
        feeding = self._feeding = Triggers(self.node) if self._around.feeds else None
        vault = Vault(self._store, Keys(NO_KEYS, None))
        running = EngineServices(self._store, self.node, None, {}, feeding, vault=vault)
        access = Access(self._store, vault, clock=self._around.monotonic)
        service = await Service.of(Engine(running=running), access, open=True)
        service.limiters.tokens = Limiter(RATE)
        service.engine.drafts.threads = cast(Threads, Here())
        service.worker_registry = WorkerRegistry(replace(await behind_engine(service.engine), gate=self.gate))
        self._app = App(service, CALLS)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            if not self._open:
                self._quiet.set()

    async def close(self) -> None:
        """As a server does: what waits is told, what is under way is answered, then all stops."""
        self._app.stop()
        if self._open:
            self._quiet.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN):
                    await self._quiet.wait()
        if self._feeding is not None:
            await self._feeding.stop()
        await self.node.stop()


@cache
def loaded_once(text: str) -> Loaded:
    return load(text)


@contextmanager
def simulated() -> Iterator[None]:
    """Who counts seconds counts virtual ones; and nodes share what they compile: it is the same in every life."""
    compiled = patch.object(flow_cache, "compile_version", _compiled_once(flow_cache.compile_version))
    routed = patch.object(app, "Router", _routed)
    known = patch.object(app, "version", _VERSION.get)  # else it is read from the disk in every life
    with compiled, routed, known, patch.object(guard, "monotonic", lambda: asyncio.get_running_loop().time()):
        yield


_VERSION = {"penstock": __version__}


@cache
def _routed(calls: Sequence[Call]) -> Router:
    return Router(calls)


@cache
def _compiled_once(compile_version: Callable[..., Any]) -> Callable[..., Any]:
    return cache(compile_version)


class Database:
    """One database in memory, emptied for every seed: what SQLite has made of the queries is kept."""

    def __init__(self) -> None:
        self.db = apsw.Connection(":memory:", statementcachesize=500)
        for setting in SETTINGS:
            self.db.execute(setting)
        migrate(self.db, Options())
        self._tables = [
            name for (name,) in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        self._first = self.rows()
        self._published: dict[tuple[str, ...], dict[str, list[Any]]] = {}

    def rows(self) -> dict[str, list[Any]]:
        """All that there is, by table."""
        return {table: self.db.execute(f"SELECT * FROM {table}").fetchall() for table in self._tables}

    def reset(self, rows: Mapping[str, list[Any]] | None = None) -> None:
        """Have these rows and no others."""
        for table, kept in (self._first if rows is None else rows).items():
            self.db.execute(f"DELETE FROM {table}")
            if kept:
                places = ", ".join("?" * len(kept[0]))
                self.db.executemany(f"INSERT INTO {table} VALUES ({places})", kept)

    async def publish(self, store: Store, definitions: Mapping[str, str]) -> None:
        """Put the workflows on the shelf; the same ones again are only copied."""
        known = self._published.get(key := tuple(definitions))
        if known is not None:
            return self.reset(known)
        for name, text in definitions.items():
            loaded = loaded_once(text)
            await publish(store, name, text, encode_offers(loaded.flow, loaded.offers), None, True)
        self._published[key] = self.rows()


@cache
def database() -> Database:
    """That of this process: simulations come one after the other."""
    return Database()


class EnginePlug:
    """Everything as it is shipped."""

    async def open_store(self, now: Callable[[], datetime]) -> Store:
        database().reset()
        opened = Opened(database().db, None, False)
        return cast(Store, Belled(SqliteStore(MEMORY, opened, _Clock(now), Options(inline=True))))

    async def publish(self, store: Store, definitions: Mapping[str, str]) -> None:
        await database().publish(store, definitions)

    def node(self, store: Store, surroundings: Surroundings) -> SimNode:
        return EngineNode(store, surroundings)

    def spoil(self, store: Store) -> None:
        db = _rows(store)
        db.execute("INSERT INTO timer (id, run, due, body, ready_at) VALUES (-1, ?, 0, x'FF', 0)", (SPOILED,))
        db.execute("INSERT INTO message (id, run, body, ready_at) VALUES (-1, ?, x'FF', 0)", (SPOILED,))

    def clean(self, store: Store) -> None:
        for table in ("timer", "message"):
            _rows(store).execute(f"DELETE FROM {table} WHERE run = ?", (SPOILED,))


def _rows(store: Any) -> apsw.Connection:
    db: apsw.Connection = store._runner.db
    return db
