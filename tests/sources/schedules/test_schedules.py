"""A schedule makes one run a tick, whatever happens to nodes; after a time away it catches up as it is told."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Engine
from penstock.sources.triggers.lease import read_record, trigger_name
from penstock.store.protocol import Store
from penstock.store.rows.rows import TokenChange
from tests.simloop import Process, SimLoop, run_simulated
from tests.sources.schedules.clockwork import Work, memory, pass_until, play, ticks, timeline, workflow
from tests.suites import first_short
from tests.waiting import pass_time


def test_a_run_is_told_its_tick_the_one_before_and_the_zone() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("cron: '15 1 * * 1-5', tz: Europe/Berlin"), start=True)
        await pass_until(16)
        (run,) = await engine.runs()
        assert run["subject"] == "2026-01-01T00:15:00Z"
        assert (await engine.show(run["id"]))["input"] == {
            "scheduled_at": "2026-01-01T00:15:00Z",
            "previous": "2025-12-31T00:15:00Z",
            "timezone": "Europe/Berlin",
        }

    play(main, Work())


@pytest.mark.parametrize(
    ("catch_up", "found"),
    [
        ("none", [1, 30, 31]),  # half a minute ago is not too late
        ("latest", [1, 30, 31]),
        ("all", [float(minute) for minute in range(1, 32)]),
    ],
)
def test_after_a_time_away_ticks_are_made_up_for_as_the_schedule_says(
    catch_up: str, found: list[float]
) -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await engine.publish(workflow(f"every: 1m, catch_up: {catch_up}"), start=True)
            await pass_until(1.5)
        await pass_until(30.5)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await pass_until(31.9)
            assert await ticks(engine) == found

    run_simulated(whole)


async def set_ahead(store: Store) -> None:
    """As if the last tick had been seen to while the clock was a year ahead."""
    (row,) = await store.tokens(trigger_name("w"), "", 1)
    data = row.data.replace(b'"last":"2026', b'"last":"2027')
    assert data != row.data
    await store.change_tokens([TokenChange(name=row.name, expect=row.version, data=data)])


def test_after_a_clock_was_set_back_its_ticks_come_again() -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await engine.publish(workflow("every: 1m"), start=True)
            await pass_until(1.5)
        await set_ahead(store)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await pass_until(3.5)
            assert await ticks(engine) == [1, 2, 3]

    run_simulated(whole)


def test_a_tick_of_more_than_a_minute_ago_is_not_made_up_for_with_none() -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await engine.publish(workflow("every: 10m, catch_up: none"), start=True)
            await pass_until(10.5)
        await pass_until(35)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await pass_until(41)
            assert await ticks(engine) == [10, 40]

    run_simulated(whole)


def test_ticks_while_it_was_stopped_are_not_made_up_for() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, catch_up: all"), start=True)
        await pass_until(1.5)
        await engine.stop_source("w")
        await pass_until(10.5)
        await engine.start_source("w")
        await pass_until(12.5)
        assert await ticks(engine) == [1, 11, 12]

    play(main)


def test_ticks_before_anybody_looked_after_a_new_clock_are_made_up_for() -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=_kept(store), tasks={}, work=False, grace=0, feed=False) as engine:
            await engine.publish(workflow("every: 1m, catch_up: all"), start=True)
        await pass_until(3.5)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await pass_until(4.5)
            assert await ticks(engine) == [1, 2, 3, 4]

    run_simulated(whole)


def test_ticks_while_it_was_stopped_and_started_again_unseen_are_not_made_up_for() -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await engine.publish(workflow("every: 1m, catch_up: all"), start=True)
            await pass_until(1.5)
        async with Engine(store=_kept(store), tasks={}, work=False, grace=0, feed=False) as engine:
            await engine.stop_source("w")
            await pass_until(5.5)
            await engine.start_source("w")
        await pass_until(6.5)
        async with Engine(store=_kept(store), tasks=Work().tasks(), grace=0) as engine:
            await pass_until(7.5)
            assert await ticks(engine) == [1, 6, 7]

    run_simulated(whole)


def test_a_new_clock_begins_when_it_is_published() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 10m, catch_up: all"), start=True)
        await pass_until(14)
        await engine.publish(workflow("cron: '*/20 * * * *', catch_up: all"))
        await pass_until(31)
        assert await ticks(engine) == [10, 20]

    play(main)


def test_while_the_workflow_is_paused_a_tick_makes_a_run_that_is_held() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: start"), start=True)
        await engine.pause_workflow("w")
        await pass_until(2.5)
        assert [(tick, status) for tick, _, status in await timeline(engine)] == [
            (1, "paused"),
            (2, "paused"),
        ]
        await engine.resume_workflow("w")
        await pass_until(2.9)
        assert {status for _, _, status in await timeline(engine)} == {"succeeded"}

    play(main)


def test_a_run_that_cannot_be_started_is_shown_and_the_next_tick_comes() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m", "params: {type: object, required: [x]}"), start=True)
        await pass_until(1.5)
        assert "tick 2026-01-01T00:01:00Z made no run" in await error_of(engine)
        await pass_until(2.5)
        assert "tick 2026-01-01T00:02:00Z made no run" in await error_of(engine)
        await engine.publish(workflow("every: 1m"))
        await pass_until(3.5)
        assert await ticks(engine) == [3]
        assert await error_of(engine) == ""

    play(main)


async def error_of(engine: Engine) -> str:
    rows = await (await engine.running()).store.tokens(trigger_name("w"), "", 1)
    record = read_record(rows[0])
    assert record is not None
    return record.error or ""


@pytest.mark.parametrize("seed", first_short(range(4), 2))
@pytest.mark.parametrize("overrun", ["skip", "abort", "delay"])
def test_with_nodes_that_die_every_tick_makes_one_run(seed: int, overrun: str) -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=store, tasks=Work().tasks(), grace=0, feed=False) as worker:
            await worker.publish(workflow(f"every: 10s, catch_up: all, overrun: {overrun}"), start=True)
            nodes = [Process(loop, f"node {n}") for n in range(4)]
            for node in nodes:
                await node.call(lambda: _serve(store))
            for node in nodes[:3]:
                await pass_time(33.0137)  # between what happens at whole seconds
                node.kill()
            await pass_time(59.5)
            made = [run["subject"] for run in await worker.runs(sort="oldest", limit=1000)]
            assert made == [f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z" for at in range(10, 159, 10)]

    run_simulated(whole, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_a_node_that_stood_still_comes_back_to_a_schedule_that_another_keeps(seed: int) -> None:
    async def whole(loop: SimLoop) -> None:
        store = await memory(loop)
        async with Engine(store=store, tasks=Work().tasks(), grace=0, feed=False) as worker:
            await worker.publish(workflow("every: 10s, catch_up: all, overrun: start"), start=True)
            nodes = [Process(loop, f"node {n}") for n in range(2)]
            for node in nodes:
                await node.call(lambda: _serve(store))
            await pass_time(25.0137)  # between what happens at whole seconds
            for node in nodes:  # whichever feeds
                node.pause()
                await pass_time(40)
                node.resume()
                await pass_time(15)
            made = [run["subject"] for run in await worker.runs(sort="oldest", limit=1000)]
            assert sorted(made) == [f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z" for at in range(10, 135, 10)]

    run_simulated(whole, seed=seed)


async def _serve(store: Any) -> None:
    """A node that is never closed."""
    await Engine(store=store, tasks={}, work=False).running()


class _Kept:
    """A store that stays open when an engine closes it: the next one goes on with it."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def close(self) -> None:
        return None


def _kept(store: Any) -> Any:
    return _Kept(store)
