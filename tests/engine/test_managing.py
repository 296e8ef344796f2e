"""A workflow that an application manages: hands that go past the application are refused, the application is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.commands.ownership import Managed
from penstock.runtime.errors import NotSkippable

TEXT = """
penstock: 1
name: own
external: [go, {name: more, optional: true}]
steps:
  a: {task: set, after: go, with: {x: 1}, emits: OK}
  b: {task: set, after: more, with: {y: 1}, emits: OK}
"""
Act = Callable[[Engine, str], Awaitable[Any]]
ACTS: dict[str, Act] = {
    "publish": lambda engine, run: engine.publish(TEXT),
    "start": lambda engine, run: engine.start("own"),
    "rerun": lambda engine, run: engine.rerun(run),
    "emit": lambda engine, run: engine.emit("go", run=run),
    "disable": lambda engine, run: engine.disable(run, "a"),
    "skip": lambda engine, run: engine.skip(run, "a"),
    "repair": lambda engine, run: engine.repair(run, put=[{"step": "a", "slot": 0, "event": "go"}]),
    "cancel by force": lambda engine, run: engine.cancel(run, force=True),
    "tokens": lambda engine, run: engine.edit_tokens(insert=[{"name": "/custom/own/x"}]),
}


@pytest.mark.parametrize("act", list(ACTS))
def test_only_the_application_may_move_what_it_manages(act: str) -> None:
    async def talk() -> tuple[str, str]:
        async with Engine("memory:") as engine:
            await engine.publish(TEXT)
            await engine.manage("own", "its application")
            with engine.acting_for("own"):
                run = await engine.start("own")
            with pytest.raises(Managed) as refused:
                await ACTS[act](engine, run)
            before = (await engine.show(run))["status"]
            with (
                engine.acting_for("own"),
                suppress(NotSkippable),
            ):  # it has not begun, but that is another matter
                await ACTS[act](engine, run)
            return str(refused.value), before

    assert asyncio.run(talk()) == ("'own' belongs to its application: only there can this be done", "waiting")


def test_other_workflows_and_plain_cancels_are_free() -> None:
    async def talk() -> list[str]:
        async with Engine("memory:") as engine:
            await engine.publish(TEXT)
            await engine.publish(TEXT.replace("name: own", "name: free"))
            await engine.manage("own", "its application")
            with engine.acting_for("own"):
                run = await engine.start("own")
            await engine.cancel(run)
            other = await engine.start("free")
            await engine.emit("go", run=other)
            return [(await engine.wait(each))["status"] for each in (run, other)]

    assert asyncio.run(talk()) == ["canceled", "succeeded"]
