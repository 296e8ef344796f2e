"""Events and ends of runs are published: with the decision or not at all, in order, again rather than never."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.hooks.cloudevents import read_cloudevents
from penstock.topics.bus import Message, Outgoing
from penstock.topics.buses import open_bus
from penstock.topics.nats import NatsBus
from tests.topics.brokers import NatsServer
from tests.topics.conftest import Broker
from tests.topics.engines import until
from tests.topics.test_buses import gather, subscribed
from tests.topics.test_topics_in import play

SHOP = """
penstock: 1
name: shop
notify:
- {bus: main, topic: TOPIC, events: [packed, sent], statuses: [succeeded]}
steps:
  pack: {task: note, emits: packed}
  send: {task: note, after: packed, emits: [sent, OK]}
"""
ENDS = """
penstock: 1
name: ends
notify: {bus: main, topic: TOPIC}
steps:
  a: {task: note, emits: OK}
"""


async def events_of(broker: Broker, topic: str, count: int) -> list[dict[str, Any]]:
    """What came to a topic, as the CloudEvents that they are."""
    async with open_bus(broker.url).subscribe(topic, "reader") as subscription:
        return [json.loads(message.body) for message in await gather(subscription, count)]


async def run_one(engine: Engine, workflow: str, **how: Any) -> str:
    run = await engine.start(workflow, **how)
    await engine.wait(run, 30)
    return run


def test_events_and_ends_are_published_in_the_order_of_the_run(both: tuple[Broker, str], topic: str) -> None:
    broker, db = both

    async def main(engine: Engine) -> tuple[str, list[dict[str, Any]]]:
        await subscribed(broker, topic, "reader")
        await engine.publish(SHOP.replace("TOPIC", topic))
        run = await run_one(engine, "shop", subject="o1", input={"n": 1})
        return run, await events_of(broker, topic, 3)

    run, events = play(db, broker, main)
    assert [each["type"] for each in events] == ["penstock.event", "penstock.event", "penstock.run.succeeded"]
    assert [each.get("event") for each in events] == ["packed", "sent", None]
    assert all(each["subject"] == "o1" and each["source"] == "/workflows/shop" for each in events)
    assert all(each["id"].startswith(f"{run}/") for each in events)
    assert events[0]["data"] == {"data": {"n": 1}} and events[2]["data"]["status"] == "succeeded"


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_a_message_is_a_cloudevent(nats: NatsServer, db: str, topic: str) -> None:
    async def main(engine: Engine) -> Message:
        await nats.make(topic)
        await engine.publish(ENDS.replace("TOPIC", topic))
        await run_one(engine, "ends")
        async with open_bus(nats.url).subscribe(topic, "reader") as subscription:
            return (await gather(subscription, 1))[0]

    message = play(db, nats, main)
    (event,) = read_cloudevents(dict(message.headers), message.body)
    assert event.type == "penstock.run.succeeded" and event.attributes["workflow"] == "ends"


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_a_run_publishes_every_end_where_nothing_else_is_said(nats: NatsServer, db: str, topic: str) -> None:
    async def main(engine: Engine) -> list[str]:
        await nats.make(topic)
        waits = ENDS.replace("task: note", "task: nobody_does_this").replace("name: ends", "name: waits")
        await engine.publish(waits.replace("TOPIC", topic))
        run = await engine.start("waits")
        await engine.cancel(run)
        await engine.publish(ENDS.replace("TOPIC", topic))
        await run_one(engine, "ends")
        return [each["status"] for each in await events_of(nats, topic, 2)]

    assert play(db, nats, main) == ["canceled", "succeeded"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{'who': run.subject, 'n': result.n + 1}", {"data": {"who": "ann", "n": 8}}),
        ("event == null ? status : event.name", {"data": "succeeded"}),
        ("result.missing", {"data": None}),
    ],
)
@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_what_is_said_can_be_worked_out_and_what_cannot_is_told(
    nats: NatsServer, db: str, topic: str, data: str, said: dict[str, Any]
) -> None:
    definition = ENDS.replace("topic: TOPIC", f'topic: TOPIC, data: "{data}"') + "result: \"{'n': 7}\"\n"

    async def main(engine: Engine) -> dict[str, Any]:
        await nats.make(topic)
        await engine.publish(definition.replace("TOPIC", topic))
        await run_one(engine, "ends", subject="ann")
        return (await events_of(nats, topic, 1))[0]

    event = play(db, nats, main)
    assert event["data"] == said["data"]
    assert ("dataerror" in event) == (data == "result.missing")


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_what_is_published_while_the_broker_is_away_waits_and_runs_go_on(db: str, topic: str) -> None:
    server = NatsServer()

    async def main(engine: Engine) -> list[str]:
        await engine.publish(ENDS.replace("TOPIC", topic))
        runs = [await run_one(engine, "ends") for _ in range(3)]
        (row,) = await (await engine.running()).store.outbox()
        assert (row.bus, row.topic, row.waiting) == ("main", topic, 3)
        await asyncio.to_thread(server.start)
        await server.make(topic)
        found = [each["run"] for each in await events_of(server, topic, 3)]
        await until((await engine.running()).store.outbox, lambda rows: not rows)
        assert sorted(found) == sorted(runs)
        return found

    try:
        play(db, server.url, main)
    finally:
        server.remove()


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_a_topic_that_is_not_there_does_not_hold_up_the_others(nats: NatsServer, db: str, topic: str) -> None:
    async def main(engine: Engine) -> list[str]:
        await nats.make(topic)
        for name, where in (("lost", f"{topic}.nowhere"), ("ends", topic)):
            await engine.publish(ENDS.replace("name: ends", f"name: {name}").replace("TOPIC", where))
            await run_one(engine, name)
        found = await events_of(nats, topic, 1)
        rows = await until((await engine.running()).store.outbox, lambda rows: len(rows) == 1)
        assert rows[0].topic == f"{topic}.nowhere"
        return [each["workflow"] for each in found]

    assert play(db, nats, main) == ["ends"]


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_a_message_that_the_broker_never_takes_is_set_aside(nats: NatsServer, db: str, topic: str) -> None:
    async def main(engine: Engine) -> list[dict[str, Any]]:
        await engine.publish(ENDS.replace("topic: TOPIC", 'topic: "a b"'))
        await run_one(engine, "ends")
        return await until(engine.undelivered, bool)

    (aside,) = play(db, nats, main)
    assert "cannot be published to 'a b'" in aside["reason"]


def test_a_letter_that_was_published_and_not_deleted_is_published_again_under_its_id(
    nats: NatsServer, db: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a kill -9 between the two leaves behind."""
    seen: list[str] = []
    publish = NatsBus.publish

    async def watched(self: NatsBus, topic: str, message: Outgoing) -> None:
        await publish(self, topic, message)
        seen.append(message.id)
        if len(seen) == 1:
            raise OSError("the process is gone")

    async def main(engine: Engine) -> list[dict[str, Any]]:
        await nats.make(topic)
        await engine.publish(ENDS.replace("TOPIC", topic))
        await run_one(engine, "ends")
        await until((await engine.running()).store.outbox, lambda rows: not rows)
        return await events_of(nats, topic, 1)

    monkeypatch.setattr(NatsBus, "publish", watched)
    (event,) = play(db, nats, main)
    assert seen == [event["id"], event["id"]]
