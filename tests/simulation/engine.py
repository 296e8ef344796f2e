"""The real engine in the simulation: nodes on one SQLite store in memory that they share like a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any, cast
from unittest.mock import patch

import apsw

from penstock.engine.loading import Loaded, load
from penstock.flow.occurrence import Outside, Paused, Resumed
from penstock.flow.run import Pauser
from penstock.runtime import flows
from penstock.runtime.codec.messages import encode_message
from penstock.runtime.errors import NotRetryable, RunEnded
from penstock.runtime.flows import encode_offers
from penstock.runtime.gate import Gate
from penstock.runtime.node import Node
from penstock.runtime.store_clock import StoreClock
from penstock.store.opening import open_store
from penstock.store.protocol import Store
from tests.simulation.nodes import SimNode, Surroundings

SPOILED = "spoiled"
"""The run of what nobody can read: there is none of that name."""


class Belled:
    """A store with a bell between its nodes, which SQLite does not have because nobody else has the file."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ears: list[asyncio.Future[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def ring(self, what: str) -> None:
        ears, self._ears = self._ears, []
        for ear in ears:
            if not ear.done():
                ear.set_result(what)

    async def hear(self, timeout: timedelta) -> str | None:
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


class EngineNode:
    """A `Node` behind the seam."""

    node: Node

    def __init__(self, store: Store, surroundings: Surroundings) -> None:
        self._store, self._around = store, surroundings

    @property
    def gate(self) -> Gate:
        return self.node.dispatch

    async def open(self) -> None:
        clock = StoreClock(await self._store.now(), self._around.monotonic)
        self.node = Node(self._store, clock, shared=True, ids=self._around.new_id)
        self.node.begin()

    async def close(self) -> None:
        await self.node.stop()

    async def start_run(self, workflow: str, input: Any, key: str) -> str:
        return await self.node.intake.start(workflow, input=input, idempotency_key=key)

    async def emit(self, key: Mapping[str, str], event: str, data: Any, id: str) -> str:
        return await self.node.intake.emit_by_key(key, Outside(event=event, data=data, id=id))

    async def cancel(self, run: str) -> bool:
        return await self._acts(self.node.intake.cancel(run))

    async def pause(self, run: str) -> bool:
        return await self._acts(self.node.intake.pause(run))

    async def resume(self, run: str) -> bool:
        return await self._acts(self.node.intake.resume(run))

    async def retry(self, run: str) -> bool:
        return await self._acts(self.node.intake.retry(run))

    async def _acts(self, action: Awaitable[None]) -> bool:
        try:
            await action
        except (RunEnded, NotRetryable):
            return False
        return True

    async def hold(self, workflow: str | None, paused: bool) -> bool:
        by: Pauser = "installation" if workflow is None else "workflow"
        word, opposite = (Paused(by), Resumed(by)) if paused else (Resumed(by), Paused(by))
        word, opposite = (Paused(by), Resumed(by)) if paused else (Resumed(by), Paused(by))
        await self._store.set_paused(workflow, paused, encode_message(word), encode_message(opposite))
        self.node.flows.forget()
        self.node.ringing.look()
        return True

    async def status(self, run: str) -> str:
        return (await self.node.look(run)).snapshot.status


@cache
def loaded_once(text: str) -> Loaded:
    return load(text)


@contextmanager
def compiled_once() -> Iterator[None]:
    """Nodes share what they compile: it is the same in every life of every node of every seed."""
    with patch.object(flows, "compile_version", cache(flows.compile_version)):
        yield


class EnginePlug:
    """Everything as it is shipped."""

    async def open_store(self, now: Callable[[], datetime]) -> Store:
        return cast(Store, Belled(await open_store("memory:", clock=_Clock(now))))

    async def publish(self, store: Store, definitions: Mapping[str, str]) -> None:
        for name, text in definitions.items():
            loaded = loaded_once(text)
            await store.publish(name, text, encode_offers(loaded.flow, loaded.offers), None, True)

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
    db: apsw.Connection = store._ledger.db
    return db
