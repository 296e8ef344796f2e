"""A source is fed while its workflow is started, in order, by the newest version; failures are shown and healed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from penstock import Context, Engine, Out
from penstock.sources.triggers.lease import Record, read_record, trigger_name
from penstock.sources.triggers.trigger import Means, SourceReader, Trigger, TriggerTarget
from tests.durable.conftest import FILE, VIRTUAL, Place
from tests.sources.feeding.feeders import (
    WAITING,
    WORKFLOW,
    Belt,
    fed,
    held_back,
    note_tasks,
    subjects,
    until_there,
)
from tests.waiting import until

HOUR = timedelta(hours=1)


async def record_of(engine: Engine) -> Record:
    rows = await (await engine.running()).store.tokens(trigger_name("w"), "", 1)
    found = read_record(rows[0])
    assert found is not None
    return found


async def holds(engine: Engine, event: str | None = None) -> str | None:
    rows = await (await engine.running()).store.tokens(trigger_name("w", event), "", 1)
    return rows[0].owner if rows else None


async def until_held(engine: Engine, held: bool, event: str | None = None) -> None:
    await until(
        lambda: holds(engine, event),
        "a feed that is held" if held else "a feed that is not held",
        so=lambda found: (found is not None) == held,
    )


def test_each_item_makes_one_run_in_order(place: Place) -> None:
    belt = Belt()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            belt.add(*(f"item {n}" for n in range(20)))
            assert await until_there(engine, 20) == belt.items

    place.run(main, note_tasks([]), feed=False)


def test_a_feeder_goes_on_where_the_one_before_stopped(place: Place) -> None:
    belt = Belt()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            belt.add("a", "b")
            await until_there(engine, 2)
        belt.add("c")
        async with fed(engine, belt.feeders()):
            assert await until_there(engine, 3) == ["a", "b", "c"]
        assert (await record_of(engine)).state == 3
        assert await holds(engine) is None

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_a_workflow_that_is_not_started_is_not_fed(place: Place) -> None:
    belt = Belt()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW)
        belt.add("a")
        async with fed(engine, belt.feeders()) as feeding:
            await feeding.run_once()
            assert (feeding.held, belt.begun) == ({}, 0)
            await engine.start_source("w")
            assert await until_there(engine, 1) == ["a"]

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_after_a_stop_nothing_is_started_and_what_was_queued_is_finished(place: Place) -> None:
    belt, done = Belt(), list[str]()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            await held_back(engine, belt, 10)
            await engine.stop_source("w")
            belt.add("late")
            await until_held(engine, False)
            await engine.resume_workflow("w")
            for run in await engine.runs():
                await engine.wait(run["id"], 20)
            assert sorted(done) == sorted(belt.items[:10])
            assert await subjects(engine) == belt.items[:10]

    place.run(main, note_tasks(done), feed=False)


@FILE
def test_runs_that_a_pause_holds_are_done_in_order_after_it(place: Place) -> None:
    belt, done = Belt(), list[str]()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            await held_back(engine, belt, 100)
            assert (await engine.counts())["paused"] == 100
            await engine.resume_workflow("w")
            for run in await engine.runs(limit=100):
                await engine.wait(run["id"], 30)
            assert done == belt.items

    place.run(main, note_tasks(done), concurrency=1, feed=False)


@FILE
def test_what_is_queued_stays_on_its_version_and_the_next_is_on_the_new_one(place: Place) -> None:
    belt = Belt()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            await engine.pause_workflow("w")
            belt.add(*(f"{n}" for n in range(100)))
            await until_there(engine, 100)
            await engine.publish(WORKFLOW.replace("a:", "b:"))
            belt.add("next")
            await until_there(engine, 101)
            await engine.resume_workflow("w")
            runs = [await engine.wait(run["id"], 30) for run in await engine.runs(sort="oldest", limit=200)]
            assert [run["version"] for run in runs] == [1] * 100 + [2]
            assert {run["status"] for run in runs} == {"succeeded"}
            await until(lambda: belt.versions[-1] == 2, "the feeder of the second version")
        assert (belt.versions[0], belt.most) == (1, 1)

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_a_feeder_that_fails_is_shown_and_begun_again(place: Place) -> None:
    belt = Belt()
    belt.broken.append(RuntimeError("the broker is away"))

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()) as feeding:
            await until(lambda: feeding.failures["topic"], "a failure")
            await until(lambda: record_of(engine), "its error", so=lambda record: record.error is not None)
            assert (await record_of(engine)).error == "the broker is away"
            belt.add("a")
            assert await until_there(engine, 1) == ["a"]
            await until(lambda: record_of(engine), "no error", so=lambda record: record.error is None)

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_outside_events_are_fed_also_while_the_source_is_stopped(place: Place) -> None:
    belt = Belt()

    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        async with fed(engine, belt.feeders()) as feeding:
            await until(lambda: feeding.held, "a feed that is held")
            assert feeding.held == {"topic": 1}
            assert await holds(engine) is None

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_a_source_that_fails_is_an_incident_until_it_works_or_is_stopped(place: Place) -> None:
    belt = Belt()
    belt.broken = [OSError("the broker is away")] * 100

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW, start=True)
        async with fed(engine, belt.feeders()):
            found = await until(engine.incidents, "an incident", so=lambda found: found["items"])
            [item] = found["items"]
            assert (item["kind"], item["workflow"], item["run"]) == ("source", "w", None)
            assert "the broker is away" in item["text"] and item["actions"] == ["stop-source"]
            for none in ({"workflow": "other"}, {"workflows": ["o*"]}, {"since": datetime.now(UTC) + HOUR}):
                assert (await engine.incidents(**none))["items"] == []
            assert (await engine.incidents(limit=1))["items"] == [item]
            await engine.stop_source("w")
            assert (await engine.incidents())["items"] == []

    place.run(main, note_tasks([]), feed=False)


@FILE
def test_at_max_running_the_next_items_wait(place: Place) -> None:
    belt, most, gate = Belt(), list[int](), asyncio.Event()

    async def note(ctx: Context) -> None:
        await gate.wait()

    async def main(engine: Engine) -> None:
        await engine.publish(WORKFLOW + "max_running: 2\n", start=True)
        async with fed(engine, belt.feeders()):
            belt.add("a", "b", "c")
            await until_there(engine, 2)
            await engine.start("w", subject="by hand")
            most.append(len(await subjects(engine)))
            gate.set()
            assert await until_there(engine, 4) == ["a", "b", "by hand", "c"]

    place.run(main, {"note": note}, feed=False)
    assert most == [3]


class Paying:
    """Tells twice that an order was paid, once it was."""

    def __init__(self, paid: bool = True) -> None:
        self.paid = paid

    async def run(self, feed: Trigger) -> None:
        while not self.paid:
            if not await feed.rest(0.02):
                return
        for _ in range(2):
            await feed.emit("paid", {"sum": 3}, key={"order": "7"}, id="message 1")
        await feed.save("all")
        await feed.stopping.wait()

    def factory(self, want: TriggerTarget, means: Means) -> SourceReader | None:
        return None if want.external is None else self


async def order(ctx: Context) -> Out:
    return Out(correlate={"order": "7"})


def test_an_event_that_is_fed_finds_its_run_by_key_once(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        run = await engine.start("w")
        async with fed(engine, {"topic": Paying().factory}) as feeding:
            assert (await engine.wait(run, 30))["status"] == "succeeded"
            assert feeding.held == {"topic": 1}
        paid = [each for each in await engine.history(run) if each["event"] == "paid"]
        assert len(paid) == 1

    place.run(main, {"note": order}, feed=False)


@FILE
def test_an_event_that_only_an_earlier_version_takes_is_fed_while_its_runs_are_under_way(
    place: Place,
) -> None:
    paying = Paying(paid=False)

    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        run = await engine.start("w")
        await engine.wait(run, 30, rest=True)
        async with fed(engine, {"topic": paying.factory}):
            await until_held(engine, True, "paid")
        await engine.publish(WORKFLOW)
        async with fed(engine, {"topic": paying.factory}) as feeding:
            paying.paid = True
            assert (await engine.wait(run, 30))["status"] == "succeeded"
            await feeding.run_once()
            await until_held(engine, False, "paid")

    place.run(main, {"note": order}, feed=False)


@pytest.mark.parametrize("prefix", ["/feeds/", "/feeds/of/w/source/"])
@VIRTUAL
def test_what_feeders_keep_cannot_be_read_or_changed_as_tokens(place: Place, prefix: str) -> None:
    async def main(engine: Engine) -> None:
        with pytest.raises(Exception, match="begins no token"):
            await engine.tokens(prefix)
        with pytest.raises(Exception, match="no token that can be changed"):
            await engine.edit_tokens(insert=[{"name": prefix, "data": 1}])

    place.run(main)
