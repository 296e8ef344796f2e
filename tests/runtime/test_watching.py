"""Waiting for a run: by what the store has, and through times when it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from penstock import Engine
from penstock.store.errors import StoreAway
from penstock.store.open import open_store
from tests.simloop import SimLoop, run_simulated
from tests.waiting import pass_time

WORKFLOW = """
penstock: 1
name: w
external: [go, end]
steps:
  a: {task: work, after: go}
  b: {task: work, after: end}
"""


def with_two_nodes(main: Callable[[Engine, Engine, Any, asyncio.Event], Awaitable[None]]) -> None:
    """Two engines on one store; their task ends when the event is set."""

    async def play(loop: SimLoop) -> None:
        done = asyncio.Event()

        async def work() -> None:
            await done.wait()

        store: Any = await open_store("memory:")
        one, two = (Engine(store=store, tasks={"work": work}) for _ in range(2))
        async with one:
            await two.publish(WORKFLOW)
            await main(one, two, store, done)
            done.set()
            await two._running.node.stop()  # type: ignore[union-attr]

    run_simulated(play)


def test_a_run_that_another_node_led_on_is_not_taken_to_be_at_rest() -> None:
    async def main(one: Engine, two: Engine, store: Any, done: asyncio.Event) -> None:
        id = await one.start("w")
        await one.wait(id, rest=True)
        await two.emit("go", run=id)
        wait = asyncio.ensure_future(one.wait(id, 30, rest=True))
        await pass_time(2)
        assert not wait.done()
        done.set()
        view = await wait
        assert (view["status"], view["steps"]["a"]["status"]) == ("waiting", "complete")

    with_two_nodes(main)


def test_a_wait_outlasts_a_store_that_is_away_for_a_while() -> None:
    async def main(one: Engine, two: Engine, store: Any, done: asyncio.Event) -> None:
        id = await one.start("w")
        await one.wait(id, rest=True)
        wait = asyncio.ensure_future(one.wait(id, 60))
        await pass_time(1)
        load = store.load

        async def away(runs: Any) -> Any:
            raise StoreAway("the line is cut")

        store.load = away
        await pass_time(10)
        store.load = load
        done.set()
        for event in ("go", "end"):
            await two.emit(event, run=id)
        assert (await wait)["status"] == "succeeded"

    with_two_nodes(main)


def test_a_run_that_another_node_has_ended_is_seen_at_once() -> None:
    async def main(one: Engine, two: Engine, store: Any, done: asyncio.Event) -> None:
        id = await one.start("w")
        await one.wait(id, rest=True)
        await two.cancel(id)
        assert (await two.wait(id))["status"] == "canceled"
        clock = asyncio.get_running_loop()
        before = clock.time()
        assert (await one.wait(id))["status"] == "canceled"
        assert clock.time() - before < 0.1

    with_two_nodes(main)
