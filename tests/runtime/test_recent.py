"""The version that calls use is looked for beside them: no call waits for the store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from penstock.runtime.node import flow_cache
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.protocol import WorkflowVersions
from penstock.store.rows.rows import Version, WorkflowState

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "penstock: 1\nname: w\nsteps: {a: {task: set, with: {x: 1}}}\n"


class Counting:
    """A shelf that tells how often it was asked."""

    def __init__(self) -> None:
        self.asked, self.latest = 0, 1

    async def workflows(self) -> list[WorkflowState]:
        self.asked += 1
        return [WorkflowState(name="w", latest=self.latest, started=True, paused=False, halted=False)]

    async def version(self, workflow: str, version: int | None) -> Version:
        self.asked += 1
        return Version(
            workflow=workflow, version=version or 1, definition=TEXT, offers=b"{}", note=None, at=NOW
        )


def test_calls_of_a_version_that_is_known_do_not_ask_the_store() -> None:
    shelf = Counting()

    async def main() -> list[int]:
        known = FlowCache(as_shelf(shelf), shared=True)
        counts = []
        for _ in range(3):
            await known.recent("w")
            counts.append(shelf.asked)
        return counts

    assert asyncio.run(main()) == [2, 2, 2]


def test_what_another_node_published_is_found_beside_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Counting()

    async def main() -> list[int]:
        known = FlowCache(as_shelf(shelf), shared=True)
        found = [(await known.recent("w"))[0].version]
        shelf.latest = 2
        monkeypatch.setattr(flow_cache, "REFRESH_AFTER", 0.0)
        found.append((await known.recent("w"))[0].version)
        await known.states()  # which waits for the look that the call began
        found.append((await known.recent("w"))[0].version)
        return found

    assert asyncio.run(main()) == [1, 1, 2]


def as_shelf(shelf: Counting) -> WorkflowVersions:
    return shelf  # type: ignore[return-value]
