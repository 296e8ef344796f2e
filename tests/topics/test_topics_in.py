"""Messages of a topic start runs and fire events, each once; what cannot be taken is set aside for people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aio_pika.exceptions import ChannelNotFoundEntity

from penstock import Engine, Out
from penstock.runtime.errors import Invalid
from penstock.sources.triggers.lease import read_record, trigger_name
from penstock.topics.bus import group_of
from tests.topics.brokers import NatsServer, RabbitServer
from tests.topics.conftest import Broker
from tests.topics.engines import engine, note, runs_there, until
from tests.topics.test_buses import subscribed, within

ORDERS = """
penstock: 1
name: orders
source:
  kind: topic
  bus: main
  topic: TOPIC
  where: body.amount > 0
  subject: body.order
  input: "{'amount': body.amount, 'from': headers['x-shop']}"
params: {type: object, properties: {amount: {type: integer, maximum: 100}}}
steps:
  a: {task: note, emits: OK}
"""
PLAIN = """
penstock: 1
name: plain
source: {kind: topic, bus: main, topic: TOPIC}
steps:
  a: {task: note, emits: OK}
"""
PAYING = """
penstock: 1
name: paying
external:
  - name: paid
    from: {kind: topic, bus: main, topic: TOPIC, key: {order: body.order}, data: body.sum, set: "{'payer': body.by}"}
steps:
  order: {task: order, emits: ordered}
  ship: {task: note, after: [ordered, paid], emits: OK}
"""
SHOP = {"content-type": "application/json", "x-shop": "east"}


def play(db: str, broker: Broker | str, main: Callable[[Engine], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        async with engine(db, broker) as running:
            return await main(running)

    return within(90, opened())


async def publish(
    engine: Engine, definition: str, broker: Broker, topic: str, event: str | None = None
) -> None:
    """The workflow is there and its consumer too: a topic of AMQP keeps nothing for whom it does not know."""
    await broker.make(topic)
    name = definition.partition("name: ")[2].partition("\n")[0]
    await subscribed(broker, topic, group_of("penstock", name, event, topic))
    await engine.publish(definition.replace("TOPIC", topic), start=True)


def order(number: int, amount: Any = 5) -> bytes:
    return json.dumps({"order": f"o{number}", "amount": amount}).encode()


def test_each_message_starts_one_run_however_often_it_comes(
    broker: Broker, tmp_path: Path, topic: str
) -> None:
    async def main(engine: Engine) -> list[dict[str, Any]]:
        await publish(engine, ORDERS, broker, topic)
        for number in (1, 2, 3):
            await broker.put(topic, order(number), f"id-{number}", SHOP)
        await broker.put(topic, order(4, amount=0), "id-4", SHOP)
        await broker.put(topic, order(5), "id-5", SHOP)
        return await runs_there(engine, 4)

    runs = play(str(tmp_path / "penstock.db"), broker, main)
    assert [run["subject"] for run in runs] == ["o1", "o2", "o3", "o5"]
    assert runs[0]["input"] == {"amount": 5, "from": "east"}


def test_the_same_id_starts_nothing_again(nats: NatsServer, db: str, topic: str) -> None:
    definition = PLAIN.replace("topic: TOPIC", "topic: TOPIC, id: body.order")

    async def main(engine: Engine) -> list[Any]:
        await publish(engine, definition, nats, topic)
        for id, number in (("a", 1), ("b", 1), ("c", 2)):
            await nats.put(topic, order(number), id, {})
        return [run["input"]["order"] for run in await runs_there(engine, 2)]

    assert play(db, nats, main) == ["o1", "o2"]


def test_messages_that_nobody_named_each_start_a_run(
    rabbit: RabbitServer, tmp_path: Path, topic: str
) -> None:
    async def main(engine: Engine) -> int:
        await publish(engine, PLAIN, rabbit, topic)
        for _ in range(2):
            await rabbit.put(topic, order(1), None, {})
        return len(await runs_there(engine, 2))

    assert play(str(tmp_path / "penstock.db"), rabbit, main) == 2


def test_a_property_of_amqp_can_be_the_id_of_a_message_that_has_none(
    rabbit: RabbitServer, tmp_path: Path, topic: str
) -> None:
    says = """id: "headers['amqp-correlation-id']", subject: "headers['amqp-routing-key']\""""
    definition = PLAIN.replace("topic: TOPIC", f"topic: TOPIC, {says}")
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)

    async def main(engine: Engine) -> list[Any]:
        await publish(engine, definition, rabbit, topic)
        for correlation, number in (("c1", 1), ("c1", 1), ("c2", 2)):
            await rabbit.put(topic, order(number), None, {}, correlation_id=correlation, timestamp=at)
        return [(run["subject"], run["input"]["order"]) for run in await runs_there(engine, 2)]

    assert play(str(tmp_path / "penstock.db"), rabbit, main) == [(topic, "o1"), (topic, "o2")]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"ce-specversion": "1.0", "ce-id": "7", "ce-source": "/shop", "ce-type": "made"}, {"n": 1}),
        (
            {"content-type": "application/cloudevents+json"},
            {"specversion": "1.0", "id": "7", "source": "/shop", "type": "made", "data": {"n": 1}},
        ),
    ],
)
@pytest.mark.parametrize("broker", ["nats"], indirect=True)
def test_cloudevents_are_understood_in_both_modes(
    broker: Broker, tmp_path: Path, topic: str, headers: dict[str, str], body: Any
) -> None:
    definition = PLAIN.replace("topic: TOPIC", "topic: TOPIC, subject: event.type")

    async def main(engine: Engine) -> list[dict[str, Any]]:
        await publish(engine, definition, broker, topic)
        for _ in range(2):  # the sender says by the id that it is the same
            await broker.put(topic, json.dumps(body).encode(), None, headers)
        await broker.put(
            topic,
            b'{"last": true}',
            None,
            {"ce-specversion": "1.0", "ce-id": "8", "ce-source": "/shop", "ce-type": "last"},
        )
        return await runs_there(engine, 2)

    runs = play(str(tmp_path / "penstock.db"), broker, main)
    assert [(run["subject"], run["input"]) for run in runs] == [("made", {"n": 1}), ("last", {"last": True})]


@pytest.mark.parametrize("both", ["nats-sqlite", "nats-postgres", "rabbit-sqlite"], indirect=True)
def test_a_message_fires_into_the_run_that_its_key_finds_once(both: tuple[Broker, str], topic: str) -> None:
    broker, db = both

    def order_task() -> Out:
        return Out(correlate={"order": "o1"})

    async def main() -> dict[str, Any]:
        tasks = {"order": order_task, "note": note}
        async with Engine(db, tasks=tasks, buses={"main": broker.url}) as engine:
            await publish(engine, PAYING, broker, topic, "paid")
            paid = json.dumps({"order": "o1", "sum": 7, "by": "ann"}).encode()
            await broker.put(topic, paid, "id-1", {})  # before there is a run: it is kept
            await until(engine.undelivered, lambda found: len(found) == 1)
            run = await engine.start("paying")
            await engine.wait(run, 30)
            await broker.put(topic, paid, "id-1", {})
            history = await engine.history(run)
            assert [each["event"] for each in history if each["event"] == "paid"] == ["paid"]
            return await engine.show(run)

    shown = within(60, main())
    assert shown["status"] == "succeeded" and shown["data"]["payer"] == "ann"


MENDED = ("100", "`where` cannot be worked out", "`input` cannot be worked out")
"""What another version of the workflow may take."""


@pytest.mark.parametrize(
    ("body", "headers", "why"),
    [
        (b"{not json", SHOP, "JSON"),
        (b"\xff\xfe", SHOP, "UTF-8"),
        (order(1, amount=500), SHOP, "100"),
        (order(1, amount="five"), SHOP, "`where` cannot be worked out"),
        (b"x", {"content-type": "image/png"}, "not 'image/png'"),
        (b"{}", {"content-type": "application/cloudevents+json"}, "CloudEvent"),
        (order(1), {}, "`input` cannot be worked out"),
    ],
)
def test_a_message_that_cannot_be_taken_is_set_aside_and_the_rest_goes_on(
    nats: NatsServer, tmp_path: Path, topic: str, body: bytes, headers: dict[str, str], why: str
) -> None:
    async def main(engine: Engine) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str | None]]:
        await publish(engine, ORDERS, nats, topic)
        await nats.put(topic, order(8), "id-0", SHOP)
        await nats.put(topic, body, "id-1", headers)
        await nats.put(topic, order(9), "id-2", SHOP)
        runs = await runs_there(engine, 2)
        found = await until(engine.undelivered, bool)
        return found, (await engine.incidents())["items"], [run["subject"] for run in runs]

    found, incidents, subjects = play(str(tmp_path / "penstock.db"), nats, main)
    assert subjects == ["o8", "o9"]
    (aside,) = found
    assert why in aside["reason"] and f"topic '{topic}' of bus 'main'" in aside["reason"]
    assert aside["event_id"] == "id-1" and aside["data"]["workflow"] == "orders"
    actions = ["redeliver"] if why in MENDED else []
    assert [(each["kind"], each["actions"]) for each in incidents] == [("undelivered", actions)]


def test_a_message_that_was_set_aside_is_taken_once_its_workflow_is_mended(
    nats: NatsServer, db: str, topic: str
) -> None:
    async def main(engine: Engine) -> tuple[list[Any], list[Any]]:
        await publish(engine, ORDERS, nats, topic)
        await nats.put(topic, order(1, amount=500), "id-1", SHOP)
        (aside,) = await until(engine.undelivered, bool)
        with pytest.raises(Invalid):
            await engine.redeliver(aside["id"])
        await engine.publish(ORDERS.replace("TOPIC", topic).replace("maximum: 100", "maximum: 1000"))
        assert await engine.redeliver(aside["id"])
        await nats.put(topic, order(1, amount=500), "id-1", SHOP)
        return [
            (run["subject"], run["input"]) for run in await runs_there(engine, 1)
        ], await engine.undelivered()

    assert play(db, nats, main) == ([("o1", {"amount": 500, "from": "east"})], [])


def test_what_was_set_aside_before_a_crash_is_listed_once(
    nats: NatsServer, tmp_path: Path, topic: str
) -> None:
    async def main(engine: Engine) -> list[dict[str, Any]]:
        await publish(engine, ORDERS, nats, topic)
        await nats.put(topic, b"{no", "id-1", SHOP)
        await until(engine.undelivered, bool)
        other = ORDERS.replace("topic: TOPIC", f"topic: {topic}").replace(
            "where: body.amount > 0", "where: true"
        )
        async with nats.connected() as stream:  # the broker forgets how far we were
            await stream.delete_consumer(topic.replace(".", "_"), group_of("penstock", "orders", None, topic))
        await engine.publish(other)
        await nats.put(topic, order(2), "id-2", SHOP)
        await runs_there(engine, 1)
        return await engine.undelivered()

    assert len(play(str(tmp_path / "penstock.db"), nats, main)) == 1


def test_a_bus_that_is_not_set_is_shown_as_an_error_of_the_source(tmp_path: Path, nats: NatsServer) -> None:
    async def main(engine: Engine) -> str:
        await engine.publish(PLAIN.replace("bus: main", "bus: other").replace("TOPIC", "t"), start=True)
        return await error_of(engine, "plain")

    assert "no bus 'other' here (main)" in play(str(tmp_path / "penstock.db"), nats, main)


async def error_of(engine: Engine, workflow: str) -> str:
    """What is kept of the source, for people."""

    async def read() -> str:
        rows = await (await engine.running()).store.tokens(trigger_name(workflow), "", 1)
        record = read_record(rows[0]) if rows else None
        return "" if record is None or record.error is None else record.error

    return await until(read, bool)


def test_a_broker_that_is_away_is_shown_and_taken_from_when_it_is_back(tmp_path: Path, topic: str) -> None:
    server = NatsServer()

    async def main(engine: Engine) -> None:
        await engine.publish(PLAIN.replace("TOPIC", topic), start=True)
        assert "does not answer" in await error_of(engine, "plain")
        await asyncio.to_thread(server.start)
        await server.make(topic)
        await server.put(topic, order(1), None, {})
        await runs_there(engine, 1)
        server.kill()
        assert "does not answer" in await error_of(engine, "plain")
        await asyncio.to_thread(server.start)
        await server.put(topic, order(2), None, {})
        assert [run["input"]["order"] for run in await runs_there(engine, 2)] == ["o1", "o2"]

    try:
        play(str(tmp_path / "penstock.db"), server.url, main)
    finally:
        server.remove()


async def taken_from(rabbit: RabbitServer, queue: str) -> None:
    """Until somebody takes from a queue."""

    async def takers() -> int:
        async with rabbit.connected() as channel:
            try:
                found = await channel.declare_queue(queue, passive=True)
            except ChannelNotFoundEntity:
                return 0
            return int(found.declaration_result.consumer_count)

    await until(takers, bool)


def test_a_source_whose_queue_is_deleted_declares_it_anew(
    rabbit: RabbitServer, tmp_path: Path, topic: str
) -> None:
    group = group_of("penstock", "plain", None, topic)

    async def main(engine: Engine) -> list[Any]:
        await engine.publish(PLAIN.replace("TOPIC", topic), start=True)
        await taken_from(rabbit, group)
        await rabbit.forget(topic, group)
        assert "it was deleted" in await error_of(engine, "plain")
        await taken_from(rabbit, group)
        await rabbit.put(topic, order(1), None, {})
        return [run["input"]["order"] for run in await runs_there(engine, 1)]

    assert play(str(tmp_path / "penstock.db"), rabbit, main) == ["o1"]


def test_a_source_waits_for_the_queue_that_somebody_else_deleted(
    rabbit: RabbitServer, tmp_path: Path, topic: str
) -> None:
    async def declare() -> None:
        async with rabbit.connected() as channel:
            queue = await channel.declare_queue(topic, durable=True)
            await queue.bind("amq.topic", topic)

    async def main(engine: Engine) -> tuple[list[Any], list[Any]]:
        await declare()
        await engine.publish(PLAIN.replace("TOPIC", f'"queue:{topic}"'), start=True)
        await taken_from(rabbit, topic)
        await rabbit.forget(topic, topic)
        told = await until(engine.incidents, lambda found: "there is no queue" in str(found))
        await declare()
        await rabbit.put(topic, order(1), None, {})
        runs = [run["input"]["order"] for run in await runs_there(engine, 1)]
        return [each["kind"] for each in told["items"]], runs

    assert play(str(tmp_path / "penstock.db"), rabbit, main) == (["source"], ["o1"])


def test_a_stopped_source_takes_nothing_until_it_is_started(nats: NatsServer, db: str, topic: str) -> None:
    async def main(engine: Engine) -> list[str]:
        await publish(engine, PLAIN, nats, topic)
        await nats.put(topic, order(1), None, {})
        await runs_there(engine, 1)
        await engine.stop_source("plain")
        feeding = (await engine.running()).triggers
        assert feeding is not None

        async def held() -> dict[str, int]:
            return feeding.held

        await until(held, lambda found: not found)
        await nats.put(topic, order(2), None, {})
        assert len(await engine.runs()) == 1
        await engine.start_source("plain")
        return [run["input"]["order"] for run in await runs_there(engine, 2)]

    assert play(db, nats, main) == ["o1", "o2"]
