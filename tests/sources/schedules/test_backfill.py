"""A backfill makes the runs of past ticks, each once, in order, wherever a node is left to do it."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.errors import Invalid, UnknownWorkflow
from penstock.sources.schedules.backfill import Backfilling
from tests.simloop import Process, SimLoop, run_simulated
from tests.sources.schedules.clockwork import Work, memory, pass_until, play, ticks, timeline, workflow
from tests.suites import first_short
from tests.waiting import pass_time

DAY: dict[str, Any] = {"since": "2025-12-31T20:00:00Z", "until": "2025-12-31T23:00:00Z"}
HOURS = [-240.0, -180.0, -120.0, -60.0]


async def backfill_of(engine: Engine) -> dict[str, Any] | None:
    (shown,) = await engine.schedules.all()
    found: dict[str, Any] | None = shown["backfill"]
    return found


async def until_done(engine: Engine) -> dict[str, Any]:
    while (found := await backfill_of(engine)) is None or found["state"] != "done":
        await pass_time(1)
    return found


def test_the_ticks_of_a_time_make_their_runs_one_after_the_other() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1h"), start=True)
        told = await engine.schedules.backfill("w", **DAY)
        assert (told["count"], told["from"], told["to"]) == (
            4,
            "2025-12-31T20:00:00Z",
            "2025-12-31T23:00:00Z",
        )
        done = await until_done(engine)
        assert (done["made"], done["there"], done["failed"]) == (4, 0, 0)
        assert [line[0] for line in await timeline(engine)] == HOURS
        starts = [line[1] for line in await timeline(engine)]
        assert starts == sorted(starts) and starts[1] - starts[0] >= 0.5  # each takes half a minute

    play(main, Work(30))


def test_a_tick_that_has_its_run_makes_no_other() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1h, overrun: start"), start=True)
        await pass_until(61)
        await engine.schedules.backfill("w", since="2025-12-31T22:00:00Z", until="2026-01-02")
        done = await until_done(engine)
        assert (done["count"], done["made"], done["there"]) == (4, 3, 1)
        assert await ticks(engine) == [-120, -60, 0, 60]
        await engine.schedules.backfill("w", since="2025-12-31T22:00:00Z", until="2026-01-02")
        again = await until_done(engine)
        assert (again["made"], again["there"]) == (0, 4)

    play(main)


def test_a_dry_run_counts_and_does_nothing() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("cron: '0 * * * *'"), start=True)
        told = await engine.schedules.backfill("w", dry_run=True, **DAY)
        await pass_until(5)
        assert (told["count"], told["dry_run"], await timeline(engine)) == (4, True, [])

    play(main)


def test_a_stopped_workflow_can_be_filled_and_stays_stopped() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1h"))
        await engine.schedules.backfill("w", **DAY)
        await until_done(engine)
        await pass_until(61)
        assert await ticks(engine) == HOURS

    play(main)


def test_runs_of_a_backfill_do_not_make_the_schedule_skip() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m"), start=True)
        await engine.schedules.backfill("w", since="2025-12-31T23:50:00Z", until="2025-12-31T23:59:00Z")
        await pass_until(3.5)
        assert [tick for tick in await ticks(engine) if tick > 0] == [1, 2, 3]

    play(main, Work(50))


def test_a_day_is_a_whole_day_of_the_zone_of_the_schedule() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("cron: '30 * * * *', tz: Europe/Berlin"))
        told = await engine.schedules.backfill("w", since="2025-03-30", until="2025-03-30", dry_run=True)
        assert (told["from"], told["count"]) == ("2025-03-29T23:00:00Z", 23)

    play(main)


def test_one_backfill_at_a_time() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1h"), start=True)
        await engine.schedules.backfill("w", **DAY)
        with pytest.raises(Backfilling):
            await engine.schedules.backfill("w", **DAY)

    play(main, Work(30))


def test_a_backfill_that_is_canceled_makes_no_more_runs() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1h"))
        await engine.schedules.backfill("w", **DAY)
        await pass_time(10)
        assert await engine.schedules.cancel_backfill("w")
        await pass_until(5)
        assert await ticks(engine) == HOURS[:1]
        left = await backfill_of(engine)
        assert left is not None and left["state"] == "canceled"
        assert not await engine.schedules.cancel_backfill("w")

    play(main, Work(60))


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        ("soon", "2025-12-31", "`from` 'soon' is no time"),
        ("2025-12-31", "2025-12-30", "there is no past time from 2025-12-31 to 2025-12-30"),
        ("2027-01-01", "2027-01-02", "there is no past time"),
        ("2024-01-01", "2025-12-31", "there are more than 10,000 ticks"),
    ],
)
def test_a_time_that_cannot_be_filled_is_told(since: str, until: str, told: str) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m"))
        with pytest.raises(Invalid, match=told):
            await engine.schedules.backfill("w", since=since, until=until)

    play(main)


def test_what_has_no_schedule_cannot_be_filled() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish("penstock: 1\nname: plain\nsteps:\n  a: {task: work}\n")
        with pytest.raises(Invalid, match="'plain' has no schedule"):
            await engine.schedules.backfill("plain", **DAY)
        with pytest.raises(UnknownWorkflow):
            await engine.schedules.backfill("nothing", **DAY)

    play(main)


@pytest.mark.parametrize("seed", first_short(range(4), 2))
def test_a_backfill_goes_on_after_its_node_died(seed: int) -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=store, tasks=Work().tasks(), grace=0, feed=False) as worker:
            await worker.publish(workflow("every: 1m, overrun: start"))
            nodes = [Process(loop, f"node {n}") for n in range(2)]
            for node in nodes:
                await node.call(lambda: _serve(store))
            await worker.schedules.backfill("w", since="2025-12-31T00:00:00Z", until="2025-12-31T03:19:00Z")
            while not await worker.runs():
                await pass_time(0.0137)
            nodes[0].kill()
            done = await until_done(worker)
            assert done["made"] + done["there"] == 200
            assert len(await worker.runs(limit=1000)) == 200

    run_simulated(whole, seed=seed)


async def _serve(store: Any) -> None:
    await Engine(store=store, tasks={}, work=False).running()
