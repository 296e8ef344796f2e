"""Banzai's callback: an outside event by its correlation key, early, twice, and late."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock import Engine, Out
from penstock.runtime.errors import InvalidEvent, UndeclaredEvent
from tests.durable.conftest import Place
from tests.waiting import until

TEXT = """
penstock: 1
name: w
external: [{name: finished, schema: {type: object}}]
steps:
  create: {task: create}
  use: {task: use, after: [create, finished], emits: OK}
"""


async def create() -> Out:
    return Out(correlate={"job": "7"})


async def use(ctx: Any) -> Any:
    return ctx.events["finished"]


TASKS = {"create": create, "use": use}


def delivered(history: list[dict[str, Any]]) -> int:
    return sum(entry["kind"] == "event" and entry["event"] == "finished" for entry in history)


def test_sent_before_the_key_exists_twice_and_after_the_end_is_one_delivery(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        early = await engine.emit("finished", {"x": 1}, key={"job": "7"}, id="m1")
        waiting = await engine.undelivered()
        again = await engine.emit("finished", {"x": 1}, key={"job": "7"}, id="m1")
        assert (early, again) == ("accepted", "duplicate")
        assert [(each["event"], each["key"], each["data"]) for each in waiting] == [
            ("finished", {"job": "7"}, {"x": 1})
        ]

        id = await engine.start("w")
        view = await engine.wait(id)
        assert (view["status"], view["steps"]["use"]["output"]) == ("succeeded", {"x": 1})
        assert await engine.undelivered() == []

        assert await engine.emit("finished", {"x": 1}, key={"job": "7"}, id="m1") == "duplicate"
        assert await engine.emit("finished", {"x": 2}, run=id, id="m2") == "recorded"
        assert delivered(await engine.history(id)) == 1

    place.run(main, TASKS)


def test_sent_to_the_run_twice_with_one_id_is_one_delivery(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        id = await engine.start("w")
        answers = await asyncio.gather(*(engine.emit("finished", {}, run=id, id="m") for _ in range(5)))
        assert sorted(answers) == ["accepted", *["duplicate"] * 4]
        assert (await engine.wait(id))["status"] == "succeeded"
        assert delivered(await engine.history(id)) == 1

    place.run(main, TASKS)


def test_an_event_that_does_not_fit_is_refused_and_changes_nothing(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        id = await engine.start("w")
        with pytest.raises(UndeclaredEvent):
            await engine.emit("other", run=id)
        with pytest.raises(InvalidEvent):
            await engine.emit("finished", 5, run=id)
        await engine.wait(id, rest=True)
        with pytest.raises(InvalidEvent):
            await engine.emit("finished", 5, key={"job": "7"})
        assert (await engine.show(id))["status"] == "waiting"

    place.run(main, TASKS)


def test_a_kept_event_that_its_run_cannot_take_stays_with_the_reason(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        await engine.emit("finished", 5, key={"job": "7"})
        id = await engine.start("w")
        await engine.wait(id, rest=True)
        await until(
            engine.undelivered, "a refused event", so=lambda kept: kept and "schema" in kept[0]["reason"]
        )
        assert (await engine.show(id))["status"] == "waiting"

    place.run(main, TASKS)


def test_a_key_of_a_live_run_goes_to_the_next_in_line_when_it_ends(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        first = await engine.start("w")
        await engine.wait(first, rest=True)
        second = await engine.start("w")
        await engine.wait(second, rest=True)
        refused = await engine.refused_keys()
        assert refused == [{"run": second, "key": {"job": "7"}, "holder": first}]

        await engine.cancel(first)
        await engine.emit("finished", {"for": "second"}, key={"job": "7"})
        assert (await engine.wait(second))["steps"]["use"]["output"] == {"for": "second"}

    place.run(main, TASKS)


def test_one_run_fires_into_another_by_its_key(place: Place) -> None:
    other = """
penstock: 1
name: other
steps:
  tell: {task: emit, with: {event: finished, key: {job: "7"}, data: {from: other}}}
"""

    async def main(engine: Engine) -> None:
        await engine.publish(TEXT)
        await engine.publish(other)
        id = await engine.start("w")
        await engine.wait(id, rest=True)
        assert (await engine.wait(await engine.start("other")))["status"] == "succeeded"
        assert (await engine.wait(id))["steps"]["use"]["output"] == {"from": "other"}

    place.run(main, TASKS)
