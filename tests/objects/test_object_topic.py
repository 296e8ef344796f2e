"""Notifications that a store sends to a broker start runs too, once, and what cannot be read holds nobody up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.triggers.triggers import Triggers
from penstock.topics.amqp import AmqpBus
from tests.objects.servers import SeaweedFS
from tests.objects.telling import PICS, TASKS, body, record
from tests.sources.feeding.feeders import until_there
from tests.topics.brokers import NatsServer, RabbitServer
from tests.topics.conftest import nats as nats
from tests.topics.conftest import rabbit as rabbit
from tests.waiting import until


def test_a_topic_brings_notifications_of_objects(
    nats: NatsServer, seaweed: SeaweedFS, tmp_path: Path
) -> None:
    bucket = seaweed.bucket("topical")
    for key in ("a b.png", "c.png"):
        seaweed.put(bucket, key, b"four", Tagging="kind=picture")
    first, second = (record(key, bucket=bucket, sequencer=key) for key in ("a+b.png", "c.png"))
    wrapped = {"Type": "Notification", "Message": body({"x": 1}, second).decode(), "MessageId": "1"}
    letters = [
        body(first),
        b"no json",
        body(first),
        body(record(bucket="others")),
        json.dumps(wrapped).encode(),
    ]

    async def main() -> Any:
        await nats.make("objects")
        stores = {"pics": seaweed.address(bucket, bus="main", topic="objects")}
        buses = {"main": nats.url}
        async with (
            asyncio.timeout(60),
            Engine(str(tmp_path / "p.db"), tasks=TASKS, stores=stores, buses=buses) as engine,
        ):
            await engine.publish(PICS, start=True)
            for number, letter in enumerate(letters):
                await nats.put("objects", letter, str(number), {})
            subjects = await until_there(engine, 2)
            runs = await engine.runs()
            tags = [(await engine.show(run["id"]))["tags"] for run in runs]
            aside, odd = await until(engine.undelivered, "what was set aside", so=lambda it: len(it) == 2)
            assert "no json" in aside["data"]["body"] and "topic 'objects' of bus 'main'" in aside["reason"]
            assert "a record has no `s3`" in odd["reason"]
            counts = (await engine.running()).means.stores.store_counts["pics"].counts
            await until(
                lambda: [counts.get(word) for word in ("started", "duplicate", "refused")] == [2, 1, 2],
                f"all messages to be counted; there are {counts}",
            )
            return subjects, tags

    subjects, tags = asyncio.run(main())
    assert (sorted(subjects), tags) == ([f"{bucket}/a b.png", f"{bucket}/c.png"], [{"kind": "picture"}] * 2)


@pytest.mark.parametrize("noticed", [True, False])
def test_what_is_told_while_the_source_is_stopped_starts_nothing_later(
    nats: NatsServer, seaweed: SeaweedFS, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noticed: bool
) -> None:
    """Also where it is started again before its feeder has noticed."""
    bucket = seaweed.bucket(f"halting-{noticed}".lower())
    for number in range(3):
        seaweed.put(bucket, f"k{number}")

    def told(number: int) -> bytes:
        return body(record(f"k{number}", bucket=bucket, sequencer=str(number)))

    async def main() -> Any:
        topic = bucket
        await nats.make(topic)
        stores = {"pics": seaweed.address(bucket, bus="main", topic=topic)}
        async with (
            asyncio.timeout(60),
            Engine(str(tmp_path / "p.db"), tasks=TASKS, stores=stores, buses={"main": nats.url}) as engine,
        ):
            await engine.publish(PICS, start=True)
            await nats.put(topic, told(0), "0", {})
            await until_there(engine, 1)
            if not noticed:
                monkeypatch.setattr(Triggers, "run_once", looks_away)
            await engine.stop_source("pics")
            await nats.put(topic, told(1), "1", {})
            await engine.start_source("pics")
            await nats.put(topic, told(2), "2", {})
            return await until_there(engine, 2)

    async def looks_away(_: Triggers) -> float:
        return 60.0

    assert asyncio.run(main()) == [f"{bucket}/k0", f"{bucket}/k2"]


class Door:
    """Lets the engine subscribe to AMQP while it is open; `there` is set once it has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open, self.there, subscribe = asyncio.Event(), asyncio.Event(), AmqpBus.subscribe

        @asynccontextmanager
        async def through(bus: AmqpBus, *given: Any) -> AsyncIterator[Any]:
            await self.open.wait()
            async with subscribe(bus, *given) as subscription:
                self.there.set()
                yield subscription

        monkeypatch.setattr(AmqpBus, "subscribe", through)
        self.open.set()


async def tell(rabbit: RabbitServer, bucket: str, number: int) -> None:
    """Of an object that came just now; AMQP itself keeps no time of it."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    told = {**record(f"k{number}", bucket=bucket, sequencer=str(number)), "eventTime": at}
    await rabbit.put("queued", body(told), str(number), {})
    await asyncio.sleep(0.01)  # the next report needs a later millisecond


def test_what_a_queue_tells_after_the_source_was_started_again_is_not_lost(
    rabbit: RabbitServer, seaweed: SeaweedFS, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where somebody takes from the queue only a while later."""
    bucket = seaweed.bucket("queued")
    for number in range(5):
        seaweed.put(bucket, f"k{number}")

    async def main() -> Any:
        stores = {"pics": seaweed.address(bucket, bus="main", topic="queued")}
        db, buses, door = str(tmp_path / "p.db"), {"main": rabbit.url}, Door(monkeypatch)
        async with asyncio.timeout(60), Engine(db, tasks=TASKS, stores=stores, buses=buses) as engine:
            await engine.publish(PICS, start=True)
            await door.there.wait()
            await tell(rabbit, bucket, 0)
            await until_there(engine, 1)
            door.open.clear()
            await engine.stop_source("pics")
            await tell(rabbit, bucket, 1)
            await tell(rabbit, bucket, 2)
            await engine.start_source("pics")
            await asyncio.sleep(0.01)  # the next report needs a later millisecond
            await tell(rabbit, bucket, 3)
            door.open.set()
            await until_there(engine, 2)
            await tell(rabbit, bucket, 4)
            return await until_there(engine, 3)

    assert asyncio.run(main()) == [f"{bucket}/k{number}" for number in (0, 3, 4)]


def test_what_a_topic_tells_waits_for_room_under_max_running(
    nats: NatsServer, seaweed: SeaweedFS, tmp_path: Path
) -> None:
    bucket = seaweed.bucket("roomy")
    for number in range(3):
        seaweed.put(bucket, f"k{number}")
    live = [0, 0]  # now, and at most

    async def look(ctx: Any) -> None:
        live[0] += 1
        live[1] = max(live)
        await asyncio.sleep(0.3)  # the work of the task: others would come meanwhile
        live[0] -= 1

    async def main() -> Any:
        await nats.make("roomy")
        stores = {"pics": seaweed.address(bucket, bus="main", topic="roomy")}
        told = body(*(record(f"k{number}", bucket=bucket, sequencer=str(number)) for number in range(3)))
        async with (
            asyncio.timeout(60),
            Engine(
                str(tmp_path / "p.db"), tasks={"look": look}, stores=stores, buses={"main": nats.url}
            ) as engine,
        ):
            await engine.publish({**PICS, "max_running": 1}, start=True)
            await nats.put("roomy", told, "0", {})
            await nats.put("roomy", told, "1", {})
            subjects = await until_there(engine, 3)
            for run in await engine.runs():
                await engine.wait(run["id"], 20)
            return subjects

    assert asyncio.run(main()) == [f"{bucket}/k{number}" for number in range(3)]
    assert live == [0, 1]
