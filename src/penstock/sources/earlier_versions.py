"""Outside events that only earlier versions of a workflow take: their runs still wait for them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from penstock.flow.compile.compile import Flow
from penstock.flow.format.definition_parser import read_definition
from penstock.flow.model.definition import Definition, External
from penstock.runtime.commands.verbs import LIVE
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.protocol import RunViews, WorkflowVersions
from penstock.store.rows.rows import Filter, WorkflowState

MAX_VERSIONS = 50
"""Earlier versions that are searched."""

CACHE_SECONDS = 60.0
"""Seconds for which an empty answer is cached: runs of earlier versions end, and hardly any begin."""

_Dropped = dict[str, list[int]]
"""By event: the versions that take it, the latest first."""


class VersionRows(RunViews, WorkflowVersions, Protocol):
    """Published versions, and the runs that they still have."""


class Earlier:
    """The events of one `kind` that only earlier versions take. What was published never changes: it is read once."""

    def __init__(self, flows: FlowCache, store: VersionRows, kind: str) -> None:
        self._flows, self._store, self._kind = flows, store, kind
        self._known: dict[str, tuple[int, _Dropped]] = {}
        self._over: dict[tuple[str, str], float] = {}

    async def taking(self, state: WorkflowState, event: str) -> tuple[Flow, External] | None:
        """The latest version that took the event, while runs that may wait for it are active."""
        versions, now = (await self._dropped(state)).get(event), asyncio.get_running_loop().time()
        if versions is None or now < self._over.get((state.name, event), now):
            return None
        if not await self._under_way(state.name, versions):
            self._over[state.name, event] = now + CACHE_SECONDS
            return None
        flow = await self._flows.get(state.name, versions[0])
        return flow, taken(flow.definition, self._kind)[event]

    async def _under_way(self, workflow: str, versions: list[int]) -> bool:
        for version in versions:
            of_it = Filter(workflow=workflow, version=version, statuses=LIVE, sort="oldest", limit=1)
            if await self._store.runs(of_it):
                return True
        return False

    async def _dropped(self, state: WorkflowState) -> _Dropped:
        known = self._known.get(state.name)
        if known is None or known[0] != state.latest:
            known = self._known[state.name] = state.latest, await self._read(state)
        return known[1]

    async def _read(self, state: WorkflowState) -> _Dropped:
        newest = taken((await self._flows.get(state.name, state.latest)).definition, self._kind)
        found: _Dropped = {}
        for version in range(state.latest - 1, max(0, state.latest - 1 - MAX_VERSIONS), -1):
            row = await self._store.version(state.name, version)
            if row is None or self._kind not in row.definition:
                continue
            for event in taken(read_definition(row.definition), self._kind).keys() - newest.keys():
                found.setdefault(event, []).append(version)
        return found


def taken(definition: Definition, kind: str) -> dict[str, External]:
    """The outside events that come in this way, by name."""
    outside = definition.external or ()
    return {each.name: each for each in outside if each.from_ is not None and each.from_.kind == kind}
