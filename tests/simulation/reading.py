"""What lies in the store when all is over, read without the help of a node."""

from __future__ import annotations

from datetime import timedelta

from penstock.flow.compile.compile import Flow
from penstock.runtime.codec.decoder import Stored, decode_page
from penstock.runtime.codec.encoder import Packer
from penstock.store.protocol import Store
from penstock.store.rows.rows import Filter
from tests.simulation.engine import loaded_once
from tests.simulation.evidence import Ran

EVERYTHING = 1_000_000


async def read_runs(store: Store) -> dict[str, Ran]:
    """Every run with its history. The payloads of the workload are small: none is kept apart."""
    flows: dict[tuple[str, int], Flow] = {}
    rows = await store.runs(Filter(limit=EVERYTHING))
    runs: dict[str, Ran] = {}
    for stored in await store.load([row.id for row in rows]):
        assert stored is not None, "a run that is listed can be loaded"
        snapshot = Stored(stored.header, stored.head, stored.parts).snapshot({}, Packer())
        pages = await store.pages(stored.run, 0, EVERYTHING)
        history = [entry for page in pages for entry in decode_page(page)]
        pinned = snapshot.run.workflow, snapshot.run.version
        if pinned not in flows:
            version = await store.version(*pinned)
            assert version is not None, "a version that runs are of is there"
            flows[pinned] = loaded_once(version.definition).flow
        runs[stored.run] = Ran(flows[pinned], snapshot, history)
    return runs


async def count_left(store: Store) -> dict[str, int]:
    """Rows of things that are alive."""
    queues = await store.queues()
    due = await store.due(EVERYTHING, timedelta())
    return {
        "tasks": sum(queue.ready + queue.held + queue.leased for queue in queues),
        "timers": len(due.timers),
        "messages": len(due.messages),
        "keys that wait": len(await store.refused(EVERYTHING)),
    }
