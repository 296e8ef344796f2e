"""A search over very many keys, in a process of its own, so that its memory can be told."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.engine.workloads import NotDone
from bench.sources.listing import address_at, listing, process
from penstock.engine.engine import Engine
from penstock.sources.objects.search import searches_of
from penstock.store.open import open_store

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
PATIENCE = 900.0
WORKFLOW = {
    "penstock": 1,
    "name": "bench-search",
    "source": {"kind": "search", "store": "bench", "cron": "0 12 * * *", "where": "object.size > 1000"},
    "steps": {"look": {"task": "look", "emits": "OK"}},
}


class Searched(Struct, frozen=True):
    """How many keys were looked at, how long it took, and the most memory that the process had, in MB."""

    looked: int
    seconds: float
    memory: float


class _NearlyNoon:
    """The clock of a store that is made a moment before the tick."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=time.monotonic() - self._began - 0.5)


async def searched_by_itself(keys: int) -> Searched:
    """A search over so many keys, of which none is wanted. Raises NotDone."""
    async with listing(keys) as port:
        searching = await process("bench.sources.searching", port)
        said, _ = await asyncio.wait_for(searching.communicate(), PATIENCE)
    if searching.returncode != 0:
        raise NotDone("the search did not come to its end")
    found = msgspec.json.decode(said, type=Searched)
    if found.looked != keys:
        raise NotDone(f"the search looked at {found.looked:,} of {keys:,} keys")
    return found


async def search(port: str) -> Searched:
    """Search the listing at a port until the end."""
    store = await open_store("memory:", clock=_NearlyNoon())
    async with Engine(store=store, tasks={}, stores={"bench": address_at(port)}) as engine:
        began = time.monotonic()
        await engine.publish(WORKFLOW, start=True)
        running = await engine.running()
        while True:
            [seen] = (await searches_of(running.store, running.node.flows))["bench"]
            if seen["last"] is not None:
                break
            await asyncio.sleep(0.2)
        took = time.monotonic() - began
    return Searched(seen["last"]["looked"], took, _peak())


def _peak() -> float:
    """The most memory of this program, in MB; what it was forked from does not count."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(msgspec.json.encode(asyncio.run(search(sys.argv[1]))).decode())
