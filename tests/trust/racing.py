"""Two nodes on one store, of which each waits with a commit until it is told to go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from penstock.engine.services import EngineServices
from penstock.store.open import is_shared, open_store
from penstock.store.protocol import Store
from penstock.store.rows.change import Change, Committed


class Turn:
    """A commit that waits: `decided` once it is there, done when it may `go`."""

    def __init__(self) -> None:
        self.decided, self.go = asyncio.Event(), asyncio.Event()


class Gated:
    """A store whose next commit waits for its turn. It stays open when a node that shares it closes."""

    def __init__(self, store: Store, shared: bool) -> None:
        self._store, self._shared = store, shared
        self.turn: Turn | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, changes: Sequence[Change]) -> Committed:
        turn, self.turn = self.turn, None
        if turn is not None:
            turn.decided.set()
            await turn.go.wait()
        return await self._store.commit(changes)

    async def close(self) -> None:
        if not self._shared:
            await self._store.close()


class Pair:
    """Two nodes that know nothing of each other but what the store says."""

    def __init__(self, nodes: list[EngineServices], gates: list[Gated]) -> None:
        self.nodes, self._gates = nodes, gates

    async def race(self, works: Sequence[Any], order: str) -> list[Any]:
        """What each of two pieces of work answers. `order` has a letter for each step: `a` of the first, `b` of
        the second; the first time it decides, the second time it commits, and is answered."""
        turns: list[Turn | None] = [None, None]
        tasks: list[asyncio.Task[Any] | None] = [None, None]
        for letter in order:
            which = "ab".index(letter)
            turn, task = turns[which], tasks[which]
            if turn is None or task is None:
                turn = turns[which] = self._gates[which].turn = Turn()
                task = tasks[which] = asyncio.create_task(works[which])
                deciding = asyncio.create_task(turn.decided.wait())
                await asyncio.wait({deciding, task}, return_when=asyncio.FIRST_COMPLETED)
                deciding.cancel()
            else:
                turn.go.set()
                await asyncio.wait({task})
        for gate in self._gates:
            gate.turn = None
        return list(await asyncio.gather(*(task for task in tasks if task), return_exceptions=True))


@asynccontextmanager
async def two_nodes(url: str) -> AsyncIterator[Pair]:
    """On PostgreSQL each with its own connections; a SQLite file belongs to one process, where both share it."""
    first = await open_store(url)
    alone = not is_shared(url)
    gates = [Gated(first, alone), Gated(first if alone else await open_store(url), alone)]
    nodes = [await EngineServices.on(gate, {}, shared=True, work=False, feed=False) for gate in gates]
    try:
        yield Pair(nodes, gates)
    finally:
        for each in nodes:
            await each.close()
        if alone:
            await first.close()
