"""A run at any point of its history, on every store: data and tags as they were then."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock import Context, Engine, Out
from tests.durable.conftest import Place

FLOW = """
penstock: 1
name: labels
source: {kind: api}
steps:
  first: {task: label, emits: one, fails: FAIL}
  each: {task: label, after: one, each: "[1, 2]", emits: two, fails: FAIL}
  last: {task: label, after: two, emits: OK, fails: FAIL}
"""


async def label(ctx: Context) -> Out:
    changes: dict[str, dict[str, Any]] = {"first": {"a": 1, "b": 1}, "each": {"b": 2}, "last": {"a": None}}
    return Out(tags=changes[ctx.step], set={ctx.step: True})


def test_data_and_tags_are_read_at_any_entry(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(FLOW)
        run = await engine.start("labels", input={"n": 1}, tags={"z": 0})
        await engine.wait(run)
        history = await engine.history(run)
        ended = {each["step"]: each["seq"] for each in history if each["kind"] == "ended"}
        then = {step: await engine.marking(run, at=seq) for step, seq in ended.items()}

        assert (await engine.marking(run, at=1))["tags"] == {"z": 0}
        assert [then[step]["tags"] for step in ("first", "each", "last")] == [
            {"z": 0, "a": 1, "b": 1}, {"z": 0, "a": 1, "b": 2}, {"z": 0, "b": 2},
        ]  # fmt: skip
        assert then["first"]["data"] == {"n": 1, "first": True}
        now = await engine.marking(run)
        assert (now["tags"], now["data"]) == ({"z": 0, "b": 2}, (await engine.show(run))["data"])

    place.run(main, {"label": label})


def test_a_run_that_began_in_the_middle_has_the_tags_of_the_old_one(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(FLOW)
        run = await engine.start("labels", input={}, tags={"z": 0})
        await engine.wait(run)
        again = await engine.rerun(run, start_at="last")
        await engine.wait(again)

        assert (await engine.marking(again, at=1))["tags"] == {"z": 0, "b": 2}

    place.run(main, {"label": label})


def test_the_end_of_an_attempt_that_waited_tells_when_a_worker_had_it(place: Place) -> None:
    async def main(engine: Engine) -> None:
        go = asyncio.Event()
        holding.append(go)
        await engine.publish({"penstock": 1, "name": "one", "steps": {"a": {"task": "hold"}}})
        first, second = await engine.start("one"), await engine.start("one")  # there is room for one
        await asyncio.sleep(place.unit)
        go.set()
        await engine.wait(first)
        await engine.wait(second)
        history = await engine.history(second)
        followed = [item async for item in engine.following.run(second) if item is not None]

        told = {each["kind"]: each for each in history}
        assert told["fired"]["at"] < told["ended"]["started_at"] <= told["ended"]["at"]
        assert [each["started_at"] for each in history if each["kind"] != "ended"] == [None] * (
            len(history) - 1
        )
        assert followed == history

    holding: list[asyncio.Event] = []

    async def hold() -> None:
        await holding[0].wait()

    place.run(main, {"hold": hold}, concurrency=1)
