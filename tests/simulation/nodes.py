"""The seam between the simulation and the engine: all that a simulation asks of a node, and of its maker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from penstock.runtime.dispatch.gate import Gate
from penstock.store.protocol import Store
from tests.faults import Watch

Application = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[Any], Awaitable[None]],
    ],
    Awaitable[None],
]
"""As ASGI has it."""


class SimNode(Protocol):
    """One node. It is killed without a word: nothing of it runs any more, and another is made in its place."""

    @property
    def gate(self) -> Gate:
        """For workers beside it."""
        ...

    @property
    def app(self) -> Application:
        """For everybody else: the HTTP API."""
        ...

    async def open(self) -> None:
        """Begin to serve. Raises StoreAway; it is tried again then."""
        ...

    async def close(self) -> None:
        """Drain and stop."""
        ...


class Surroundings(Struct, frozen=True):
    """What a node finds around it: its own, wrong clocks, its own chance, and who watches what passes its gate."""

    name: str
    now: Callable[[], datetime]  # hours off
    monotonic: Callable[[], float]
    new_id: Callable[[], str]  # of runs: unique, in order of time
    watch: Watch
    feeds: bool  # there is something to feed: who looks for it in vain takes time from the others


class Plug(Protocol):
    """How the engine is put together for a simulation."""

    async def open_store(self, now: Callable[[], datetime]) -> Store:
        """An empty store in memory that does everything inline and takes its time from `now`."""
        ...

    async def publish(self, store: Store, definitions: Mapping[str, str]) -> None:
        """Make the workflows known, before any node is there."""
        ...

    def node(self, store: Store, surroundings: Surroundings) -> SimNode:
        """A node that is not open yet; made inside its process."""
        ...

    def spoil(self, store: Store) -> None:
        """Lay a timer and a message into the store that nobody can read; both are due."""
        ...

    def clean(self, store: Store) -> None:
        """Take away what `spoil` laid there."""
        ...
