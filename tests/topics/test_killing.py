"""kill -9 of a node in the middle of it: no message is lost on its way in or out, and none starts two runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.topics.buses import open_bus
from tests.topics.conftest import Broker
from tests.topics.engines import engine, note, until
from tests.topics.killing import node
from tests.topics.test_buses import subscribed, within
from tests.topics.test_topics_in import PLAIN, order, publish
from tests.topics.test_topics_out import SHOP

COUNT = 300


@pytest.mark.long(
    "test_what_a_killed_process_had_in_hand_comes_again_before_what_is_new",
    "test_each_message_starts_one_run_however_often_it_comes",
)
def test_messages_during_a_kill_of_the_node_start_their_runs_once(
    broker: Broker, tmp_path: Path, topic: str
) -> None:
    db = str(tmp_path / "penstock.db")

    async def prepare() -> None:
        async with engine(db, broker, feed=False) as made:
            await publish(made, PLAIN, broker, topic)

    async def put(numbers: range) -> None:
        for number in numbers:
            await broker.put(topic, order(number), f"id-{number}", {})

    async def inputs() -> list[Any]:
        async with engine(db, broker) as last:

            async def count() -> int:
                return sum((await last.counts()).values())

            await until(count, lambda found: found >= COUNT, 60)
            return await _orders(last)

    within(60, prepare())
    with node(db, broker.url):
        within(60, put(range(COUNT // 3)))  # killed while it takes them
    with node(db, broker.url):
        within(60, put(range(COUNT // 3, 2 * COUNT // 3)))
    within(60, put(range(2 * COUNT // 3, COUNT)))
    assert sorted(within(90, inputs())) == sorted(f"o{number}" for number in range(COUNT))


@pytest.mark.long(
    "test_a_letter_that_was_published_and_not_deleted_is_published_again_under_its_id",
    "test_events_and_ends_are_published_in_the_order_of_the_run",
)
def test_letters_during_a_kill_of_the_node_come_all_and_in_order_of_each_run(
    broker: Broker, tmp_path: Path, topic: str
) -> None:
    db, told = str(tmp_path / "penstock.db"), COUNT

    async def prepare() -> list[str]:
        await subscribed(broker, topic, "reader")
        async with Engine(db, tasks={"note": note}) as made:  # it has no bus: the letters wait
            await made.publish(SHOP.replace("TOPIC", topic))
            runs = [await made.start("shop") for _ in range(COUNT // 3)]
            await asyncio.gather(*(made.wait(run, 60) for run in runs))
        return list(runs)

    found: dict[str, str] = {}  # by id, in the order of their first coming

    async def read(count: int) -> None:
        async with open_bus(broker.url).subscribe(topic, "reader") as subscription:
            while len(found) < count:
                taken = await subscription.take()
                for event in map(json.loads, (each.body for each in taken)):
                    found.setdefault(event["id"], event["run"])
                await subscription.done(taken)

    runs = within(90, prepare())
    with node(db, broker.url):
        within(60, read(told // 10))  # killed while it publishes
    with node(db, broker.url):
        within(60, read(told))
    for run in runs:
        numbers = [int(id.partition("/")[2]) for id, of in found.items() if of == run]
        assert len(numbers) == 3 and numbers == sorted(numbers)


async def _orders(engine: Engine) -> list[str]:
    runs = await engine.runs(limit=1000)
    shown = await asyncio.gather(*(engine.show(run["id"]) for run in runs))
    return [run["input"]["order"] for run in shown]
