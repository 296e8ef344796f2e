"""Of any number of nodes one feeds at a time: another goes on after a stop at once, after a crash in seconds."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.triggers.lease import LEASE_DURATION, NODES, Lost, NodeLease, TriggerLease, trigger_name
from penstock.sources.triggers.triggers import Triggers
from penstock.store.open import open_store
from tests.databases import new_database
from tests.durable.conftest import LoopTime
from tests.postgres_server import PostgresServer
from tests.simloop import Process, SimLoop, run_simulated
from tests.sources.feeding.feeders import SHORT, WORKFLOW, Belt, fed, note_tasks, until_there
from tests.waiting import pass_time, until


def test_one_of_two_nodes_feeds_and_the_other_goes_on_at_once_after_a_stop(server: PostgresServer) -> None:
    belt, url = Belt(), new_database(server)

    async def main() -> None:
        async with (
            Engine(url, tasks=note_tasks([]), feed=False) as one,
            Engine(url, tasks={}, feed=False) as two,
        ):
            await one.publish(WORKFLOW, start=True)
            async with fed(two, belt.feeders()) as second:
                async with fed(one, belt.feeders()) as first:
                    belt.add("a", "b")
                    await until_there(one, 2)
                    for _ in range(3):
                        await first.run_once()
                        await second.run_once()
                    assert sorted(map(bool, (first.held, second.held))) == [False, True]
                left = second if second.held else first
                belt.add("c")
                assert await until_there(one, 3) == ["a", "b", "c"]
                assert belt.most == 1
                assert left is second or second.held

    asyncio.run(main())


def test_after_a_crash_another_node_takes_over_and_no_item_is_lost_or_twice(server: PostgresServer) -> None:
    belt, url = Belt(), new_database(server)

    async def main() -> None:
        async with (
            Engine(url, tasks=note_tasks([]), feed=False) as one,
            Engine(url, tasks={}, feed=False) as two,
        ):
            await one.publish(WORKFLOW, start=True)
            crashed = Triggers((await one.running()).node, readers=belt.feeders(), lease=SHORT)
            await crashed.run_once()
            belt.add("a", "b")
            await until_there(one, 2)
            assert crashed.held == {"topic": 1}
            async with fed(two, belt.feeders(), lease=SHORT) as other:
                await other.run_once()
                assert other.held == {}
                belt.add(
                    "c", "d"
                )  # the crashed one is not renewed: its feeder goes on until its time is over
                await until(lambda: other.held, "a feed that the other holds")
                belt.add("e")
                assert await until_there(one, 5) == ["a", "b", "c", "d", "e"]
                await crashed.stop()

    asyncio.run(main())


def test_what_a_buried_node_writes_is_not_taken(server: PostgresServer) -> None:
    async def main() -> None:
        store = await open_store(server.create_database())
        try:
            now = datetime.now(UTC)
            dead = NodeLease(store, lambda: now - timedelta(hours=1), shared=True)
            await dead.renew()
            held = await TriggerLease.take(store, dead, trigger_name("w"), "topic")
            assert held is not None
            await held.keep(state=1)
            other = NodeLease(store, lambda: now, shared=True)
            await other.renew()
            taken = await TriggerLease.take(store, other, trigger_name("w"), "topic")
            assert taken is not None and taken.record.state == 1
            with pytest.raises(Lost):
                await held.keep(state=2)
            with pytest.raises(Lost):
                await dead.renew()
            await taken.keep(state=3)
        finally:
            await store.close()

    asyncio.run(main())


def test_a_node_that_gave_no_sign_of_life_stops_before_others_take_it_for_dead() -> None:
    async def play(loop: SimLoop) -> list[tuple[bool, bool]]:
        clock = LoopTime(loop)
        store = await open_store("memory:", clock=clock)
        node, other = (NodeLease(store, clock.now, shared=True) for _ in range(2))
        await node.renew()
        seen = []
        for seconds in (0, LEASE_DURATION.total_seconds() * 0.9, LEASE_DURATION.total_seconds() * 0.2):
            await pass_time(seconds)
            seen.append((node.alive, await other.expire(node.owner)))
        return seen

    assert run_simulated(play) == [(True, False), (False, False), (False, True)]


def test_alone_on_its_store_a_node_takes_over_at_once_from_the_one_before(tmp_path: Path) -> None:
    async def main() -> tuple[Any, Any]:
        store = await open_store(str(tmp_path / "penstock.db"))
        try:
            before, after = (NodeLease(store, lambda: datetime.now(UTC), shared=False) for _ in range(2))
            first = await TriggerLease.take(store, before, trigger_name("w"), "topic")
            assert first is not None
            await first.keep(state=1)  # and then it crashed
            second = await TriggerLease.take(store, after, trigger_name("w"), "topic")
            other = await TriggerLease.take(store, after, trigger_name("w"), "schedule")
            assert second is not None and other is not None
            return second.record.state, other.record.state
        finally:
            await store.close()

    assert asyncio.run(main()) == (1, None)  # what another kind of source left behind is not read


def test_nodes_that_died_long_ago_leave_nothing_behind(server: PostgresServer) -> None:
    async def main() -> int:
        store = await open_store(server.create_database())
        try:
            now = datetime.now(UTC)
            for _ in range(3):
                await NodeLease(store, lambda: now - timedelta(hours=1), shared=True).renew()
            await NodeLease(store, lambda: now, shared=True).renew()
            return len(await store.tokens(NODES, "", 100))
        finally:
            await store.close()

    assert asyncio.run(main()) == 1


async def _node(store: Any, belt: Belt) -> Triggers:
    """A node on a store that is shared, with feeders of a belt; it is never closed."""
    engine = Engine(store=store, tasks=note_tasks([]), feed=False)
    feeding = Triggers((await engine.running()).node, readers=belt.feeders())
    asyncio.get_running_loop().create_task(feeding.run())
    return feeding


@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_is_killed_is_followed_within_a_quarter_of_a_minute(seed: int) -> None:
    belts: list[Belt] = []

    async def play(loop: SimLoop) -> None:
        store = await open_store("memory:", clock=LoopTime(loop))
        looker = Engine(store=store, tasks={}, feed=False)
        await looker.publish(WORKFLOW, start=True)
        belt = Belt()
        belts.append(belt)
        first, second = Process(loop, "first"), Process(loop, "second")
        holder = await first.call(lambda: _node(store, belt))
        belt.add("a")
        await until_there(looker, 1)
        other = await second.call(lambda: _node(store, belt))
        assert (bool(holder.held), other.held) == (True, {})
        first.kill()
        belt.feeding = 0  # nothing of it runs any more
        belt.add("b")
        killed = loop.time()
        assert await until_there(looker, 2) == ["a", "b"]
        assert loop.time() - killed < LEASE_DURATION.total_seconds() + 4
        assert belt.most == 1
        second.kill()

    run_simulated(play, seed=seed)
