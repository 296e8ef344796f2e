"""Published versions, compiled once: what a run is decided by."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from penstock.flow.compile.compile import Flow, compile_flow
from penstock.flow.format.reading import read_definition
from penstock.flow.model.offer import Offer
from penstock.flow.model.run import Pauser
from penstock.flow.values.payload import is_storable
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.commands.validation import validate_integers
from penstock.runtime.errors import Invalid, UnknownVersion, UnknownWorkflow
from penstock.steps.kinds import OFFERS, kinds_with
from penstock.store.protocol import WorkflowVersions
from penstock.store.rows.rows import Version, WorkflowState

T = TypeVar("T")

LATEST = 2**31
"""No workflow has so many versions."""

RECENT, OLDEST = 1.0, 10.0
"""Seconds after which calls have the newest version looked for beside them, and after which they wait for it."""

_offers = msgspec.json.Decoder(dict[str, Offer]).decode


def encode_offers(flow: Flow, offers: Mapping[str, Offer]) -> bytes:
    """What the tasks of a flow offer: kept with the version, for it decides its ports for ever."""
    used = sorted({step.task for step in flow.steps.values()} & offers.keys())
    return msgspec.json.encode({name: offers[name] for name in used})


class FlowCache:
    """Versions by name and number. A version never changes, so it is read once."""

    def __init__(self, shelf: WorkflowVersions, shared: bool, suffix: str = "") -> None:
        self._shelf, self.suffix = shelf, suffix  # of the names of task lists
        self._shared = shared
        self.managers = Owners()
        self._flows: dict[tuple[str, int], Flow] = {}
        self._states: dict[str, WorkflowState] = {}
        self._forgotten, self._looked = 0, -math.inf
        self._observers: list[Callable[[], None]] = []
        self._compiling = asyncio.Lock()
        self._looking: asyncio.Task[dict[str, WorkflowState]] | None = None
        self._next: asyncio.Task[dict[str, WorkflowState]] | None = None

    def known(self, workflow: str, version: int) -> Flow | None:
        return self._flows.get((workflow, version))

    async def get(self, workflow: str, version: int) -> Flow:
        """One version. Raises UnknownWorkflow, UnknownVersion, Invalid."""
        if type(version) is not int:  # to Python true is 1
            raise Invalid(f"`version` must be a whole number, not {version!r}")
        flow = self._flows.get((workflow, version))
        if flow is None:
            validate_integers(-math.inf, math.inf, version=version)
            async with self._compiling:  # a thousand first starts at once compile it once
                flow = self._flows.get((workflow, version)) or await self._compiled(workflow, version)
        return flow

    async def _compiled(self, workflow: str, version: int) -> Flow:
        there = 0 < version < LATEST and is_storable(workflow)
        found = await self._shelf.version(workflow, version) if there else None
        if found is None:
            states = await self._look()
            if (state := states.get(workflow)) is None:
                raise UnknownWorkflow(workflow, states)
            raise UnknownVersion(workflow, version, state.latest)
        flow = self._flows[workflow, version] = compile_version(found, self.suffix)
        return flow

    async def newest(self, workflow: str) -> tuple[Flow, WorkflowState]:
        """The version that new runs use, and the state of the workflow. Raises UnknownWorkflow."""
        if self._shared:
            await self._look()
        return await self.believed(workflow)

    def at_hand(self, workflow: str) -> tuple[Flow, WorkflowState] | None:
        """What `believed` gives, where nothing has to be read for it."""
        state = self._states.get(workflow)
        flow = None if state is None else self._flows.get((workflow, state.latest))
        return None if state is None or flow is None else (flow, state)

    async def believed(self, workflow: str) -> tuple[Flow, WorkflowState]:
        """The same as this process knew it last: for what the store compares when it is written."""
        state = self._states.get(workflow)
        if state is None:
            states = await self._look()
            if (state := states.get(workflow)) is None:
                raise UnknownWorkflow(workflow, states)
        return await self.get(workflow, state.latest), state

    async def recent(self, workflow: str) -> tuple[Flow, WorkflowState]:
        """The same for calls: read anew beside them, so that none waits for the store. Raises UnknownWorkflow.

        What another node publishes or pauses is known a second later.
        """
        state = self._states.get(workflow)
        if state is None or (self._shared and self._age() > OLDEST):
            return await self.newest(workflow)
        if self._shared and self._age() > RECENT and self._next is None:
            self._next = asyncio.create_task(self._read(self._looking))
            self._next.add_done_callback(_heeded)
        return self._flows.get((workflow, state.latest)) or await self.get(workflow, state.latest), state

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._looked

    async def states(self) -> list[WorkflowState]:
        """Every workflow, by name."""
        known = not self._shared and self._states  # where nobody else writes, what is known is so
        return list((known or await self._look()).values())

    def observe(self, observer: Callable[[], None]) -> None:
        """From now on, hear when something was published or paused."""
        self._observers.append(observer)

    def forget(self) -> None:
        """Something was published or paused: look again."""
        self._forgotten += 1
        self._states = {}
        for observer in self._observers:
            observer()

    async def changed_by(self, change: Coroutine[Any, Any, T]) -> T:
        """The result of a call of the store that publishes or pauses; whatever comes of it, the states are read anew.

        That is so if its outcome is unknown, and if nobody waits for it any more: it goes on, and may have succeeded.
        """
        changing = asyncio.create_task(change)
        changing.add_done_callback(_heeded)
        changing.add_done_callback(lambda _: self.forget())
        return await asyncio.shield(changing)

    async def _look(self) -> dict[str, WorkflowState]:
        """Read the states anew. Who asks while others read waits for the next reading, which all then share.

        Returns what was read: by the time the caller continues, it may be forgotten again.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._read(self._looking))
            self._next.add_done_callback(_heeded)
        return await asyncio.shield(self._next)

    async def _read(self, before: asyncio.Task[dict[str, WorkflowState]] | None) -> dict[str, WorkflowState]:
        if before is not None:
            await asyncio.wait([before])
        self._looking, self._next = self._next, None
        while True:
            forgotten = self._forgotten
            found = await self._shelf.workflows()
            if forgotten == self._forgotten:
                break  # otherwise it may have been read before what it should show
        self._states = states = {state.name: state for state in found}
        self._looked = asyncio.get_running_loop().time()
        return states


def _heeded(reading: asyncio.Task[Any]) -> None:
    """Whoever waited may have gone: that it failed is then nobody's trouble, and must not be told as one."""
    if not reading.cancelled():
        reading.exception()


def compile_version(version: Version, suffix: str = "") -> Flow:
    """The flow of a published version, with the ports that its tasks had then."""
    offers = {**OFFERS, **_offers(version.offers)}
    definition = read_definition(version.definition)
    return compile_flow(
        definition, kinds_with(offers, checked=False), offers, version=version.version, suffix=suffix
    )


def wider_pauses(state: WorkflowState) -> tuple[Pauser, ...]:
    """The pauses wider than a run that are there."""
    if not (state.paused or state.halted):
        return ()
    pausers: tuple[tuple[Pauser, bool], ...] = (("workflow", state.paused), ("installation", state.halted))
    return tuple(by for by, paused in pausers if paused)
