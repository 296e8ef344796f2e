"""Corners where keys, pauses and ends meet."""

from __future__ import annotations

import asyncio

from penstock import Context, Engine, Out
from tests.durable.conftest import Place
from tests.waiting import until


async def echo(ctx: Context) -> str:
    return "yes"


def test_a_key_is_not_kept_by_an_element_that_is_withdrawn_as_it_queues(place: Place) -> None:
    text = """
penstock: 1
name: w
external: [go]
steps:
  a: {task: echo, serialize: "'k'"}
  b: {task: decide, with: {if: "data.cancel"}, cancels: [a], emits: {then: x, else: x}}
  c: {task: echo, after: [x, go], emits: OK}
"""
    other = "penstock: 1\nname: other\nsteps:\n  a: {task: echo, serialize: \"'k'\", serialize_scope: a}\n"

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        await engine.publish(other)
        first = await engine.start("w", input={"cancel": True})
        await engine.wait(first, rest=True)
        assert (await engine.wait(await engine.start("other")))["status"] == "succeeded"

    place.run(main, {"echo": echo})


def test_a_pause_does_not_hold_a_clean_up(place: Place) -> None:
    busy, began = asyncio.Event(), list[str]()

    async def work(ctx: Context) -> None:
        began.append(ctx.step)
        if ctx.step == "a":
            await busy.wait()

    text = "penstock: 1\nname: w\nsteps:\n  a: {task: work}\n  c: {task: work, after: CANCEL}\n"

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        await engine.publish("penstock: 1\nname: blocker\nsteps:\n  a: {task: work}\n")
        await engine.start("blocker")
        await until(lambda: began, "the first task")
        id = await engine.start("w")
        await engine.cancel(id)  # the clean-up waits: the worker has room for one
        await engine.pause(id)
        busy.set()
        assert (await engine.wait(id))["status"] == "canceled"
        assert began == ["a", "c"]

    place.run(main, {"work": work}, concurrency=1)


def test_a_retry_that_ends_at_once_gives_its_keys_back(place: Place) -> None:
    text = """
penstock: 1
name: w
external: [e]
steps:
  key: {task: key}
  bad: {task: decide, after: key, with: {if: "data.missing > 1"}}
  use: {task: echo, after: e, emits: OK}
"""

    async def key() -> Out:
        return Out(correlate={"job": "7"})

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        first = await engine.start("w")
        assert (await engine.wait(first))["status"] == "failed"
        await engine.retry(first)
        assert (await engine.wait(first))["status"] == "failed"
        await engine.emit("e", key={"job": "7"})
        assert [each["key"] for each in await engine.undelivered()] == [{"job": "7"}]

    place.run(main, {"key": key, "echo": echo})
