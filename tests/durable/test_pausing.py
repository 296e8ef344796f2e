"""Pauses that come and go while a run is over: a retry goes by those that are there now."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock import Context, Engine, Fatal
from tests.durable.conftest import Place
from tests.waiting import until

ONE = "penstock: 1\nname: w\nsteps:\n  a: {task: shaky}\n"


class Shaky:
    """A task that fails once told to go on, and then never again."""

    def __init__(self) -> None:
        self.began, self.go = asyncio.Event(), asyncio.Event()
        self.tries = 0

    async def __call__(self, ctx: Context) -> int:
        self.began.set()
        await self.go.wait()
        self.tries += 1
        if self.tries == 1:
            raise Fatal("not today")
        return self.tries


def shaky(state: Shaky) -> dict[str, Any]:
    async def shaky(ctx: Context) -> int:
        return await state(ctx)

    return {"shaky": shaky}


async def failed_run(engine: Engine, state: Shaky) -> str:
    state.go.set()
    await engine.publish(ONE)
    id = await engine.start("w")
    assert (await engine.wait(id, 30))["status"] == "failed"
    return id


def kinds(history: list[dict[str, Any]]) -> list[str]:
    return [entry["kind"] for entry in history if entry["kind"] in ("paused", "resumed", "repaired")]


@pytest.mark.parametrize("workflow", ["w", None])
def test_a_pause_that_went_while_the_run_was_over_does_not_hold_its_retry(
    place: Place, workflow: str | None
) -> None:
    state = Shaky()

    async def main(engine: Engine) -> None:
        await engine.publish(ONE)
        id = await engine.start("w")
        await state.began.wait()
        await engine.pause_workflow(workflow)
        await until(lambda: engine.history(id), "the pause", so=lambda entries: "paused" in kinds(entries))
        state.go.set()
        assert (await engine.wait(id, 30))["status"] == "failed"
        await engine.resume_workflow(workflow)
        await engine.retry(id)
        assert (await engine.wait(id, 30))["status"] == "succeeded"
        assert kinds(await engine.history(id)) == ["paused", "repaired", "resumed"]

    place.run(main, shaky(state))


@pytest.mark.parametrize("workflow", ["w", None])
def test_a_pause_that_came_while_the_run_was_over_holds_its_retry(place: Place, workflow: str | None) -> None:
    state = Shaky()

    async def main(engine: Engine) -> None:
        id = await failed_run(engine, state)
        await engine.pause_workflow(workflow)
        assert (await engine.retry(id))["status"] == "paused"
        assert state.tries == 1
        await engine.resume_workflow(workflow)
        assert (await engine.wait(id, 30))["steps"]["a"]["output"] == 2
        assert kinds(await engine.history(id)) == ["repaired", "paused", "resumed"]

    place.run(main, shaky(state))


def test_a_pause_that_comes_in_the_middle_of_a_retry_holds_it(place: Place) -> None:
    state = Shaky()

    async def main(engine: Engine) -> None:
        id = await failed_run(engine, state)
        running: Any = engine._running
        commit = running.store.commit

        async def slow(changes: Any) -> Any:
            running.store.commit = commit
            await engine.pause_workflow("w")
            return await commit(changes)

        running.store.commit = slow
        assert (await engine.retry(id))["status"] == "paused"
        assert state.tries == 1

    place.run(main, shaky(state))
