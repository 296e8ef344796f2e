"""A run at any point of its history, on every store: data and tags as they were then."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from penstock import Context, Engine, Out
from penstock.engine import operations
from penstock.flow.model.plan import Entry
from penstock.runtime.queries import workflow_stats
from penstock.runtime.queries.history import read_history
from penstock.runtime.queries.past_marking import Past
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
            {"z": 0, "a": 1, "b": 1},
            {"z": 0, "a": 1, "b": 2},
            {"z": 0, "b": 2},
        ]
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
        await asyncio.sleep(place.unit)  # the second waits for so long
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


def test_histories_are_gone_through_entry_by_entry_and_one_after_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Counter[str] = Counter()

    class Counting(Past):
        def take(self, entry: Entry) -> None:
            super().take(entry)
            seen["held"] -= 1

    async def reading(*asked: Any) -> AsyncIterator[Entry]:
        seen["open"] += 1
        async for entry in read_history(*asked):
            seen["held"] += 1
            seen["most open"] = max(seen["most open"], seen["open"])
            seen["most held"] = max(seen["most held"], seen["held"])
            await asyncio.sleep(0)
            yield entry
        seen["open"] -= 1

    async def main(engine: Engine) -> None:
        await engine.publish(FLOW)
        run = await engine.start("labels", input={})
        await engine.wait(run)
        last = len(await engine.history(run))
        found = await asyncio.gather(*(engine.marking(run, at=last) for _ in range(3)))

        assert [each["seq"] for each in found] == [last] * 3
        assert (seen["most open"], seen["most held"]) == (1, 1)

    monkeypatch.setattr(operations, "read_history", reading)
    monkeypatch.setattr(operations, "Past", Counting)
    place.run(main, {"label": label})


def test_what_was_retried_after_a_failure_is_looked_back_at_entry_by_entry(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            {
                "penstock": 1,
                "name": "twice",
                "steps": {"first": {"task": "fine"}, "second": {"task": "moody", "after": "first"}},
            }
        )
        run = await engine.start("twice")
        await engine.wait(run)
        await engine.retry(run)
        await engine.wait(run)
        history = await engine.history(run)
        found = [await engine.marking(run, at=each["seq"]) for each in history]

        assert [each["seq"] for each in found] == [each["seq"] for each in history]
        assert found[-1]["steps"]["second"]["firings"] == 2

    async def fine(ctx: Context) -> None:
        return None

    async def moody(ctx: Context) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not today")

    tries: list[int] = []
    place.run(main, {"fine": fine, "moody": moody})


def test_statistics_let_others_take_their_turn_after_every_run(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[int] = [0]
    seen: list[int] = []
    add_figures = workflow_stats.add_figures

    def adding(*said: Any) -> None:
        seen.append(turns[0])
        add_figures(*said)

    async def others() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    async def main(engine: Engine) -> None:
        await engine.publish(FLOW)
        for _ in range(4):
            await engine.wait(await engine.start("labels", input={}))
        await asyncio.sleep(place.unit)  # they have started before now
        beside = asyncio.create_task(others())
        told = await engine.stats("labels")
        beside.cancel()

        assert told["steps"]["first"]["firings"] == len(seen) == 4
        assert len(set(seen)) > 1  # not each time: whose turn it is is left to chance in the virtual world

    monkeypatch.setattr(workflow_stats, "add_figures", adding)
    place.run(main, {"label": label})
