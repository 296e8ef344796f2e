"""The seam between the simulation and the engine: all that a simulation asks of a node, and of its maker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from penstock.runtime.gate import Gate
from penstock.store.protocol import Store


class SimNode(Protocol):
    """One node. It is killed without a word: nothing of it runs any more, and another is made in its place."""

    @property
    def gate(self) -> Gate: ...

    async def open(self) -> None:
        """Begin to serve. Raises StoreAway; it is tried again then."""
        ...

    async def close(self) -> None:
        """Drain and stop."""
        ...

    async def start_run(self, workflow: str, input: Any, key: str) -> str:
        """The run of that idempotency key, durable."""
        ...

    async def emit(self, key: Mapping[str, str], event: str, data: Any, id: str) -> str:
        """Send an outside event by correlation key; the answer."""
        ...

    async def cancel(self, run: str) -> bool:
        """Cancel a run; False: it has ended."""
        ...

    async def pause(self, run: str) -> bool:
        """Hold a run; False: it has ended."""
        ...

    async def resume(self, run: str) -> bool:
        """Let a run go on; False: it has ended."""
        ...

    async def hold(self, workflow: str | None, paused: bool) -> bool:
        """Hold a workflow or (None) the installation, or let it go on; True."""
        ...

    async def status(self, run: str) -> str: ...

    async def retry(self, run: str) -> bool:
        """Let a failed run try again; False: it has not failed."""
        ...


class Surroundings(Struct, frozen=True):
    """What a node finds around it: its own, wrong clocks, and its own chance."""

    name: str
    now: Callable[[], datetime]  # hours off
    monotonic: Callable[[], float]
    new_id: Callable[[], str]  # of runs: unique, in order of time


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
