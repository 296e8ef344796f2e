"""Deletes ended runs after their retention time, from every table, a few at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from penstock.flow.format.definition_parser import read_definition
from penstock.flow.model.problems import DefinitionError
from penstock.store.protocol import Maintenance, WorkflowVersions

DEFAULT_RETENTION = {
    "succeeded": timedelta(days=30),
    "canceled": timedelta(days=30),
    "failed": timedelta(days=90),
    "timed_out": timedelta(days=90),
}


class RetentionRows(Maintenance, WorkflowVersions, Protocol):
    """Runs, and the workflows that say how long they are kept."""


class Own:
    """How long workflows keep their runs, where their newest version says so; each version is read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, timedelta | None]] = {}

    async def ages(self, versions: WorkflowVersions) -> dict[str, timedelta]:
        """By workflow."""
        found: dict[str, timedelta] = {}
        for state in await versions.workflows():
            known = self._known.get(state.name)
            if known is None or known[0] != state.latest:
                known = self._known[state.name] = state.latest, await _age(versions, state.name, state.latest)
            if known[1] is not None:
                found[state.name] = known[1]
        return found


async def _age(versions: WorkflowVersions, workflow: str, version: int) -> timedelta | None:
    row = await versions.version(workflow, version)
    if row is None or "retention" not in row.definition:
        return None
    try:
        return read_definition(row.definition).retention
    except DefinitionError:
        return None  # an older Penstock wrote it: the days of all count


@dataclass
class Retention:
    """On by default. Batches are small and apart, so that nobody waits for them."""

    store: RetentionRows
    days: dict[str, timedelta] = field(default_factory=lambda: dict(DEFAULT_RETENTION))
    batch: int = 500
    every: timedelta = timedelta(minutes=5)
    pause: timedelta = timedelta(seconds=0.5)
    own: Own = field(default_factory=lambda: Own())

    async def run(self) -> None:
        while True:
            while await self.run_once():
                await asyncio.sleep(self.pause.total_seconds())
            await asyncio.sleep(self.every.total_seconds())

    async def run_once(self) -> bool:
        """One batch; True where there may be more."""
        own = await self.own.ages(self.store)
        gone = await self.store.retain(self.days, self.batch, False, own)
        return any(count >= self.batch for count in gone.rows.values())
