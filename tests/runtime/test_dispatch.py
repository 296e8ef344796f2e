"""Work that another node made: what it takes to do it here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.model.run_input import Done
from penstock.runtime.dispatch.gate import Report
from penstock.runtime.node.node import Node
from penstock.store.open import open_store
from penstock.store.rows.rows import ClaimRequest, StoredRun

WORKFLOW = "penstock: 1\nname: w\nsteps:\n  a: {task: t}\n  b: {task: t, after: [a]}\n"
WISH = ClaimRequest(worker="w", tasks=("t",), task_lists=("default",), limit=10)


@pytest.mark.parametrize(("shared", "reads"), [(True, [3]), (False, [3, 3])])
def test_runs_of_another_node_are_read_once_for_their_work_and_its_report(
    shared: bool, reads: list[int]
) -> None:
    """Where nothing tells that a run is old, as on SQLite, one that was read beside a decision is not kept."""
    assert asyncio.run(_taken_over(shared)) == (reads, ["accepted"] * 3)


async def _taken_over(shared: bool) -> tuple[list[int], list[str]]:
    store: Any = await open_store("memory:")
    load, loads = store.load, list[int]()

    async def counted(runs: Sequence[str]) -> list[StoredRun | None]:
        loads.append(len(runs))
        found: list[StoredRun | None] = await load(runs)
        return found

    async with Engine(store=store, work=False) as engine:
        await engine.publish(WORKFLOW)
        for _ in range(3):
            await engine.start("w")
        node = await Node.on(store, shared=shared)
        node.begin()
        store.load = counted
        given = await node.dispatch.claim(WISH, timedelta(seconds=5))
        told = await node.dispatch.report([Report(each.lease, Done()) for each in given])
        await node.stop()
        return loads, list(told)
