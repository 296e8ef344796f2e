"""Pinball's: the node dies and the run goes on, cycles turn, runs of one workflow do not mix."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from penstock import Context, Engine
from penstock.engine.services import EngineServices
from penstock.workers.task import tasks_of
from tests.durable.conftest import Place
from tests.waiting import until

CYCLE = """
penstock: 1
name: cycle
steps:
  turn: {task: turn, after: START | again}
  more: {task: decide, after: turn, with: {if: "steps.turn.output < data.turns"}, emits: {then: again, else: OK}}
"""


@pytest.mark.parametrize("place", ["virtual", "postgres"], indirect=True)
def test_a_cyclic_workflow_turns_1000_times(place: Place) -> None:
    turns: list[int] = []

    async def turn() -> int:
        turns.append(1)
        return len(turns)

    async def main(engine: Engine) -> dict[str, Any]:
        await engine.publish(CYCLE)
        return await engine.wait(await engine.start("cycle", input={"turns": 1000}))

    view = place.run(main, {"turn": turn})

    assert (view["status"], view["steps"]["turn"]["firings"], len(turns)) == ("succeeded", 1000, 1000)


def test_two_runs_of_one_workflow_at_once_do_not_mix(place: Place) -> None:
    text = """
penstock: 1
name: w
steps:
  a: {task: echo}
  b: {task: echo}
  join: {task: both, after: [a, b], emits: OK}
"""

    async def echo(ctx: Context) -> Any:
        await asyncio.sleep(0.001)  # the two runs take turns
        return ctx.data["n"]

    async def both(ctx: Context) -> Any:
        return [ctx.input["a"], ctx.input["b"], ctx.data["n"]]

    async def main(engine: Engine) -> list[Any]:
        await engine.publish(text)
        ids = [await engine.start("w", input={"n": n}) for n in range(20)]
        return [(await engine.wait(id))["steps"]["join"]["output"] for id in ids]

    assert place.run(main, {"echo": echo, "both": both}) == [[n, n, n] for n in range(20)]


PATIENT = """
penstock: 1
name: w
steps:
  a: {task: first}
  b: {task: second, after: a, timeouts: {heartbeat: 500ms}, emits: OK}
"""


async def start_and_die(place: Place, tasks: Any, begun: Callable[[], bool]) -> str:
    """Start a run; when its second step has begun, as if the process were gone: nothing is finished or told."""
    running = await EngineServices.open(place.url, tasks_of(tasks))
    await running.catalog.publish(PATIENT)
    id = await running.node.commands.start("w")
    await until(begun, "the second step")
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await running.store.close()
    return id


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_node_that_is_killed_in_mid_run_and_begun_again_goes_on(place: Place) -> None:
    done: list[str] = []

    async def first() -> str:
        done.append("first")
        return "one"

    async def second(ctx: Context) -> str:
        done.append(f"second {ctx.attempt}")
        if ctx.attempt == 1:
            await asyncio.sleep(3600)  # it is killed while it works
        return str(ctx.input["a"])

    tasks = {"first": first, "second": second}

    async def again(id: str) -> dict[str, Any]:
        async with Engine(place.url, tasks=tasks) as engine:
            return await engine.wait(id, 30)

    view = asyncio.run(again(asyncio.run(start_and_die(place, tasks, lambda: "second 1" in done))))

    assert (view["status"], view["steps"]["b"]["output"]) == ("succeeded", "one")
    assert done == ["first", "second 1", "second 2"]
