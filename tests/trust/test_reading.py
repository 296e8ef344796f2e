"""C8: whoever reads the history of a run while it goes on sees a beginning of it without gaps, and never less again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from penstock import Engine
from penstock.runtime.codec.decoder import decode_page
from penstock.store.open import is_shared, open_store
from penstock.store.protocol import Store
from tests.chaos.checking import all_ended, read_runs, torn

RUNS, STEPS, READERS = 20, 8, 3
CHAIN = {
    "penstock": 1,
    "name": "carry",
    "steps": {
        f"s{n}": {"task": "echo", **({"after": f"s{n - 1}"} if n else {}), "retries": 3} for n in range(STEPS)
    },
}


async def echo() -> int:
    await asyncio.sleep(0.005)  # so that runs take turns
    return 1


@asynccontextmanager
async def engines(url: str) -> AsyncIterator[tuple[list[Engine], Store]]:
    """Who works, and a store to read from: on PostgreSQL two nodes, and connections of their own."""
    tasks: dict[str, Any] = {"echo": echo}
    async with AsyncExitStack() as stack:
        count = 2 if is_shared(url) else 1
        made = [await stack.enter_async_context(Engine(url, tasks=tasks)) for _ in range(count)]
        if not is_shared(url):
            yield made, (await made[0].running()).store
            return
        store = await open_store(url)
        stack.push_async_callback(store.close)
        yield made, store


async def tail(store: Store, runs: Sequence[str], done: asyncio.Event) -> tuple[int, list[str]]:
    """Read each run again and again; how often there was more, and what was wrong."""
    seen, more, wrong = dict.fromkeys(runs, 0), 0, list[str]()
    while not done.is_set():
        for run in runs:
            [state] = await store.states([run])
            pages = await store.pages(run, 0, 1_000)
            numbers = [entry.seq for page in pages for entry in decode_page(page)]
            if numbers != list(range(1, len(numbers) + 1)):
                wrong.append(f"run {run}: {numbers}")
            if len(numbers) < max(seen[run], state.seq):
                wrong.append(f"run {run}: {len(numbers)} entries after {seen[run]}")
            more += len(numbers) > seen[run]
            seen[run] = max(seen[run], len(numbers))
        await asyncio.sleep(0)
    return more, wrong


def test_c8_who_reads_a_history_that_grows_sees_no_gap_and_never_less(url: str) -> None:
    async def main() -> tuple[int, list[str]]:
        async with engines(url) as (nodes, store):
            await nodes[0].publish(CHAIN)
            runs = [await nodes[n % len(nodes)].start("carry", input={"number": n}) for n in range(RUNS)]
            done = asyncio.Event()
            readers = [asyncio.create_task(tail(store, runs[n::READERS], done)) for n in range(READERS)]
            await all_ended(store)
            done.set()
            found = await asyncio.gather(*readers)
            wrong = [line for _, lines in found for line in lines]
            return sum(more for more, _ in found), wrong + list(torn(await read_runs(store), {}))

    more, wrong = asyncio.run(main())

    assert wrong == []
    assert more > RUNS, "the readers saw histories grow"
