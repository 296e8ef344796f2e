"""Published versions as a node knows them: never older than what this node did."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock.engine.authoring.publication import Catalog
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.open import open_store

WORKFLOW = "penstock: 1\nname: w\nsteps:\n  a: {task: wait, with: {for: 1s}}\n"


def test_a_reading_begun_before_a_publish_is_not_taken_for_what_is_after_it() -> None:
    async def main() -> None:
        store: Any = await open_store("memory:")
        flows = FlowCache(store, shared=False)
        catalog = Catalog(store, flows, Owners(), {})
        await catalog.publish(WORKFLOW)
        read, reached, go_on = store.workflows, asyncio.Event(), asyncio.Event()

        async def slow() -> Any:
            found = await read()
            reached.set()
            await go_on.wait()
            return found

        store.workflows = slow
        looking = asyncio.ensure_future(flows.states())
        await reached.wait()
        store.workflows = read
        await catalog.publish(WORKFLOW)
        go_on.set()
        await looking
        flow, state = await flows.newest("w")
        assert (flow.version, state.latest) == (2, 2)
        await store.close()

    asyncio.run(main())


def test_what_was_just_read_is_known_although_it_is_forgotten_at_once() -> None:
    async def main() -> None:
        store: Any = await open_store("memory:")
        flows = FlowCache(store, shared=False)
        await Catalog(store, flows, Owners(), {}).publish(WORKFLOW)
        read = store.workflows

        async def read_as_something_is_paused() -> Any:
            found = await read()
            asyncio.get_running_loop().call_soon(flows.forget)  # before whoever waits for it goes on
            return found

        store.workflows = read_as_something_is_paused
        flow, _ = await flows.believed("w")
        assert flow.name == "w"
        assert [state.name for state in await flows.states()] == ["w"]
        await store.close()

    asyncio.run(main())
