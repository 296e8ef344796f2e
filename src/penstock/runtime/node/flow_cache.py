"""Published versions, compiled once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from penstock.flow.compile.compile import Flow, compile_flow
from penstock.flow.format.definition_parser import read_definition
from penstock.flow.model.offer import Offer
from penstock.flow.model.run import Pauser
from penstock.flow.values.payload import is_storable
from penstock.runtime.commands.validation import validate_integers
from penstock.runtime.errors import Invalid, UnknownVersion, UnknownWorkflow
from penstock.steps.kinds import OFFERS, kinds_with
from penstock.store.protocol import WorkflowVersions
from penstock.store.rows.rows import Version, WorkflowState

T = TypeVar("T")

MAX_VERSIONS = 2**31
"""More versions than any workflow has."""

REFRESH_AFTER, MAX_AGE = 1.0, 10.0
"""Seconds after which calls refresh the newest version in the background, and after which they wait for it."""

_offers = msgspec.json.Decoder(dict[str, Offer]).decode


def encode_offers(flow: Flow, offers: Mapping[str, Offer]) -> bytes:
    """The offers of a flow's tasks: stored with the version, because they fix its ports."""
    used = sorted({step.task for step in flow.steps.values()} & offers.keys())
    return msgspec.json.encode({name: offers[name] for name in used})


class FlowCache:
    """Versions by name and number. A version never changes, so it is read once."""

    def __init__(self, versions: WorkflowVersions, shared: bool, suffix: str = "") -> None:
        self._versions, self.suffix = versions, suffix  # of the names of task lists
        self._shared = shared
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
        there = 0 < version < MAX_VERSIONS and is_storable(workflow)
        found = await self._versions.version(workflow, version) if there else None
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
        """What `believed` returns, if nothing must be read."""
        state = self._states.get(workflow)
        flow = None if state is None else self._flows.get((workflow, state.latest))
        return None if state is None or flow is None else (flow, state)

    async def believed(self, workflow: str) -> tuple[Flow, WorkflowState]:
        """The same as this process knew it last; the store compares it when it is written."""
        state = self._states.get(workflow)
        if state is None:
            states = await self._look()
            if (state := states.get(workflow)) is None:
                raise UnknownWorkflow(workflow, states)
        return await self.get(workflow, state.latest), state

    async def recent(self, workflow: str) -> tuple[Flow, WorkflowState]:
        """The same for calls: refreshed in the background, so none waits for the store. Raises UnknownWorkflow.

        What another node publishes or pauses is known a second later.
        """
        state = self._states.get(workflow)
        if state is None or (self._shared and self._age() > MAX_AGE):
            return await self.newest(workflow)
        if self._shared and self._age() > REFRESH_AFTER and self._next is None:
            self._next = asyncio.create_task(self._read(self._looking))
            self._next.add_done_callback(_heeded)
        return self._flows.get((workflow, state.latest)) or await self.get(workflow, state.latest), state

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._looked

    async def states(self) -> list[WorkflowState]:
        """Every workflow, by name."""
        known = not self._shared and self._states  # if no other node writes, the cache is current
        return list((known or await self._look()).values())

    def observe(self, observer: Callable[[], None]) -> None:
        """From now on, hear when something was published or paused."""
        self._observers.append(observer)

    def forget(self) -> None:
        """Something was published or paused: read again."""
        self._forgotten += 1
        self._states = {}
        for observer in self._observers:
            observer()

    async def changed_by(self, change: Coroutine[Any, Any, T]) -> T:
        """The result of a store call that publishes or pauses. Afterwards the states are read again.

        This holds also if the outcome is unknown or the caller is cancelled: the call may still succeed.
        """
        changing = asyncio.create_task(change)
        changing.add_done_callback(_heeded)
        changing.add_done_callback(lambda _: self.forget())
        return await asyncio.shield(changing)

    async def _look(self) -> dict[str, WorkflowState]:
        """Read the states again. Callers that arrive during a read share the next one.

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
            found = await self._versions.workflows()
            if forgotten == self._forgotten:
                break  # otherwise it may have been read before what it should show
        self._states = states = {state.name: state for state in found}
        self._looked = asyncio.get_running_loop().time()
        return states


def _heeded(reading: asyncio.Task[Any]) -> None:
    """Retrieve the exception, so asyncio does not log it when no caller is left."""
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
    """Which pauses of the workflow or the installation are active."""
    if not (state.paused or state.halted):
        return ()
    pausers: tuple[tuple[Pauser, bool], ...] = (("workflow", state.paused), ("installation", state.halted))
    return tuple(by for by, paused in pausers if paused)
