"""What every bus keeps: one suite over NATS JetStream, RabbitMQ and (only librdkafka's mock of) Kafka."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from penstock.topics.bus import Message, Outgoing, Subscription, group_of
from penstock.topics.buses import Buses, open_bus
from penstock.topics.errors import BadBus, BusAway, NoTopic, UnknownBus
from tests.topics.brokers import KafkaCluster, NatsServer, RabbitServer
from tests.topics.conftest import Broker

Result = TypeVar("Result")


def within(seconds: float, main: Coroutine[Any, Any, Result]) -> Result:
    async def bounded() -> Result:
        async with asyncio.timeout(seconds):
            return await main

    return asyncio.run(bounded())


async def gather(subscription: Subscription, count: int, done: bool = True) -> list[Message]:
    found: list[Message] = []
    while len(found) < count:
        taken = await subscription.take()
        found += taken
        if done:
            await subscription.done(taken)
    return found


async def subscribed(broker: Broker, topic: str, group: str) -> None:
    """Let the group be known: a topic of AMQP keeps nothing for whom it does not know."""
    await broker.make(topic)
    if broker.kind == "amqp":
        async with open_bus(broker.url).subscribe(topic, group):
            pass


async def publish_one(url: str, topic: str) -> None:
    bus = open_bus(url)
    try:
        await bus.publish(topic, Outgoing(id="a", key="a", body=b""))
    finally:
        await bus.close()


def bodies(messages: list[Message]) -> list[str]:
    return [message.body.decode() for message in messages]


async def put_many(broker: Broker, topic: str, count: int, first: int = 0) -> list[str]:
    bus = open_bus(broker.url)
    wanted = [f"m{number}" for number in range(first, first + count)]
    for name in wanted:
        await bus.publish(topic, Outgoing(id=name, key="one", body=name.encode()))
    await bus.close()
    return wanted


async def next_second() -> None:
    """Wait until the next second has begun: AMQP counts in seconds."""
    await asyncio.sleep(1.05 - datetime.now(UTC).microsecond / 1e6)  # only time makes time stamps differ


def test_a_message_comes_as_it_was_sent(broker: Broker, topic: str) -> None:
    async def main() -> Message:
        await subscribed(broker, topic, "one")
        headers = {"ce-type": "made", "content-type": "application/json", "x-more": "1"}
        await broker.put(topic, b'{"a": 1}', "id-1", headers)
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            return (await gather(subscription, 1))[0]

    message = within(30, main())
    said = {"ce-type": "made", "content-type": "application/json", "x-more": "1"}
    assert message.body == b'{"a": 1}' and said.items() <= dict(message.headers).items()
    assert message.id is not None
    assert message.id.startswith(f"{topic}/0/0/") if broker.kind == "kafka" else message.id == "id-1"


def test_messages_come_in_order(broker: Broker, topic: str) -> None:
    async def main() -> None:
        await subscribed(broker, topic, "one")
        wanted = await put_many(broker, topic, 250)
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            assert bodies(await gather(subscription, 250)) == wanted

    within(60, main())


def test_what_is_done_does_not_come_again_and_what_is_not_comes_in_order(broker: Broker, topic: str) -> None:
    async def main() -> list[str]:
        await subscribed(broker, topic, "one")
        await put_many(broker, topic, 10)
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            taken = await gather(subscription, 10, done=False)
            await subscription.done(taken[:4])
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            return bodies(await gather(subscription, 6))

    assert within(60, main()) == [f"m{number}" for number in range(4, 10)]


def test_what_came_before_a_time_is_done_untaken(broker: Broker, topic: str) -> None:
    async def main() -> list[str]:
        await subscribed(broker, topic, "one")
        await put_many(broker, topic, 5)
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            await gather(subscription, 1, done=False)
        await next_second()
        async with open_bus(broker.url).subscribe(topic, "one", datetime.now(UTC)) as subscription:
            await put_many(broker, topic, 2, first=5)
            return bodies(await gather(subscription, 2))

    assert within(60, main()) == ["m5", "m6"]


@pytest.mark.parametrize("kind", ["nats", "rabbit"])
def test_what_came_since_a_time_is_taken_though_nobody_was_there(
    kind: str, request: pytest.FixtureRequest, topic: str
) -> None:
    """The mock of Kafka finds nothing by time."""
    broker: Broker = request.getfixturevalue(kind)

    async def main() -> list[str]:
        await subscribed(broker, topic, "one")
        await put_many(broker, topic, 5)
        await next_second()
        since = datetime.now(UTC)
        await put_many(broker, topic, 2, first=5)
        async with open_bus(broker.url).subscribe(topic, "one", since) as subscription:
            await put_many(broker, topic, 1, first=7)
            found = bodies(await gather(subscription, 3))
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            await put_many(broker, topic, 1, first=8)
            return found + bodies(await gather(subscription, 1))

    assert within(60, main()) == ["m5", "m6", "m7", "m8"]


def test_messages_of_amqp_without_a_time_count_by_what_they_tell(rabbit: RabbitServer, topic: str) -> None:
    """Five old ones, of which only the first and the fourth say so, one that says nothing, and a new one."""
    said = {"m0": 1, "m3": 1, "m6": 3}

    def sent_at(message: Message) -> datetime | None:
        day = said.get(message.body.decode())
        return None if day is None else datetime(2026, 1, day, tzinfo=UTC)

    async def main() -> list[str]:
        await subscribed(rabbit, topic, "one")
        for number in range(7):
            await rabbit.put(topic, f"m{number}".encode(), str(number), {})
        since = datetime(2026, 1, 2, tzinfo=UTC)
        async with open_bus(rabbit.url).subscribe(topic, "one", since, sent_at) as subscription:
            return bodies(await gather(subscription, 3))

    assert within(60, main()) == ["m4", "m5", "m6"]


def test_every_group_gets_every_message(broker: Broker, topic: str) -> None:
    async def main() -> list[list[str]]:
        await subscribed(broker, topic, "one")
        await subscribed(broker, topic, "two")
        await put_many(broker, topic, 5)
        found = []
        for group in ("one", "two"):
            async with open_bus(broker.url).subscribe(topic, group) as subscription:
                found.append(bodies(await gather(subscription, 5)))
        return found

    assert within(60, main()) == [["m0", "m1", "m2", "m3", "m4"]] * 2


def test_what_a_killed_process_had_in_hand_comes_again_before_what_is_new(broker: Broker, topic: str) -> None:
    within(30, subscribed(broker, topic, "one"))
    within(30, put_many(broker, topic, 6))
    taker = subprocess.Popen(
        [sys.executable, "-m", "tests.topics.taking", broker.url, topic, "one", "2"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert taker.stdout is not None
    seen = [taker.stdout.readline().strip() for _ in range(6)]
    taker.kill()
    taker.wait()
    taker.stdout.close()
    assert seen == [f"m{number}" for number in range(6)]

    async def main() -> list[str]:
        await put_many(broker, topic, 2, first=6)
        async with open_bus(broker.url).subscribe(topic, "one") as subscription:
            return bodies(await gather(subscription, 6))

    assert within(60, main()) == [f"m{number}" for number in range(2, 8)]


def test_a_bus_that_answers_says_so(broker: Broker) -> None:
    said = within(30, open_bus(broker.url).check())
    assert {"nats": "NATS", "amqp": "AMQP", "kafka": "Kafka"}[broker.kind] in said


def test_the_same_id_published_twice_is_kept_once_by_nats(nats: NatsServer, topic: str) -> None:
    async def main() -> list[str]:
        await subscribed(nats, topic, "one")
        await put_many(nats, topic, 1)
        await put_many(nats, topic, 2)
        async with open_bus(nats.url).subscribe(topic, "one") as subscription:
            return bodies(await gather(subscription, 2))

    assert within(30, main()) == ["m0", "m1"]


async def first_id(broker: Broker, topic: str) -> str | None:
    """The id of the first message of a topic, which comes whenever nobody says that it is done."""
    async with open_bus(broker.url).subscribe(topic, "one") as subscription:
        return (await gather(subscription, 1, done=False))[0].id


def test_a_message_of_a_stream_that_was_made_anew_is_another(nats: NatsServer, topic: str) -> None:
    async def main() -> None:
        found = []
        for _ in range(2):
            await nats.make(topic)
            await nats.put(topic, b"{}", None, {})
            found.append([await first_id(nats, topic) for _ in range(2)])
            async with nats.connected() as stream:
                await stream.delete_stream(topic.replace(".", "_"))
        (one, again), (other, _) = found
        assert one == again and one != other

    within(30, main())


def test_a_message_of_a_topic_of_kafka_that_was_made_anew_is_another(topic: str) -> None:
    async def main() -> None:
        found = []
        for _ in range(2):
            cluster = KafkaCluster()
            await cluster.make(topic)
            await cluster.put(topic, b"{}", None, {})
            found.append([await first_id(cluster, topic) for _ in range(2)])
            await asyncio.to_thread(cluster.remove)
        (one, again), (other, _) = found
        assert one == again and one != other

    within(60, main())


@pytest.fixture(params=["nats", "rabbit"])
def mortal(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A broker that may be killed: it is there again for the tests that follow."""
    server = request.getfixturevalue(request.param)
    yield server
    if not server.alive:
        server.start()


def test_nothing_is_lost_while_the_broker_is_away_and_who_waits_is_told(mortal: Any, topic: str) -> None:
    async def main() -> list[str]:
        await subscribed(mortal, topic, "one")
        await put_many(mortal, topic, 3)
        with pytest.raises(BusAway):
            async with open_bus(mortal.url).subscribe(topic, "one") as subscription:
                await subscription.done((await gather(subscription, 3, done=False))[:1])
                mortal.kill()
                await gather(subscription, 1)
        with pytest.raises(BusAway):
            await publish_one(mortal.url, topic)
        await asyncio.to_thread(mortal.start)
        found: list[str] = []
        async with open_bus(mortal.url).subscribe(topic, "one") as subscription:
            while "m2" not in found:
                found += bodies(await gather(subscription, 1))
        return found

    # NATS writes what is done a little later: a broker that is killed may not know it any more.
    assert within(90, main())[-2:] == ["m1", "m2"]


def test_who_waits_is_told_that_the_broker_removed_his_consumer(
    mortal: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.topics.nats.LOOK", 1.0)  # the pause before the next look

    async def main() -> list[str]:
        await subscribed(mortal, topic, "one")
        with pytest.raises(BusAway):
            async with open_bus(mortal.url).subscribe(topic, "one") as subscription:
                taking = asyncio.create_task(subscription.take())
                await mortal.forget(topic, "one")
                await taking
        async with open_bus(mortal.url).subscribe(topic, "one") as subscription:
            await put_many(mortal, topic, 2)
            return bodies(await gather(subscription, 2))

    assert within(30, main()) == ["m0", "m1"]


def test_what_came_before_a_queue_was_deleted_is_taken_first(rabbit: RabbitServer, topic: str) -> None:
    async def main() -> list[str]:
        async with open_bus(rabbit.url).subscribe(topic, "one") as subscription:
            await put_many(rabbit, topic, 3)
            taken = await gather(subscription, 1, done=False)
            await rabbit.forget(topic, "one")
            with pytest.raises(BusAway, match="no more from the queue 'one': it was deleted"):
                while True:
                    await subscription.done(taken[-1:])
                    taken += await subscription.take(1)
            return bodies(taken)

    assert within(30, main()) == ["m0", "m1", "m2"]


def test_one_publisher_goes_on_after_the_broker_was_away(
    mortal: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> list[str]:
        await subscribed(mortal, topic, "one")
        bus = open_bus(mortal.url)
        await bus.publish(topic, Outgoing(id="a", key="k", body=b"a"))
        mortal.kill()
        with pytest.raises(BusAway), monkeypatch.context() as hasty:
            hasty.setattr("penstock.topics.nats.CALL_TIMEOUT", 1.0)
            await bus.publish(topic, Outgoing(id="b", key="k", body=b"b"))
        await asyncio.to_thread(mortal.start)
        # RabbitMQ may forget a queue or a binding that was made just before it is killed.
        await subscribed(mortal, topic, "one")
        await bus.publish(topic, Outgoing(id="b", key="k", body=b"b"))
        await bus.close()
        async with open_bus(mortal.url).subscribe(topic, "one") as subscription:
            found: list[str] = []
            while "b" not in found:
                found += bodies(await gather(subscription, 1))
            return found

    assert within(90, main()) in (["a", "b"], ["b"])


def test_who_waits_is_told_that_the_cluster_is_gone(topic: str) -> None:
    async def main() -> None:
        cluster = KafkaCluster()
        await cluster.make(topic)
        async with open_bus(cluster.url).subscribe(topic, "one") as subscription:
            taking = asyncio.create_task(subscription.take())
            await asyncio.to_thread(cluster.remove)
            with pytest.raises(BusAway):
                await taking

    within(60, main())


def test_a_new_group_may_begin_with_what_comes_from_now_on(nats: NatsServer, topic: str) -> None:
    async def main() -> list[str]:
        await nats.make(topic)
        await put_many(nats, topic, 2)
        async with open_bus(f"{nats.url}&from=new").subscribe(topic, "one") as subscription:
            await put_many(nats, topic, 1, first=2)
            return bodies(await gather(subscription, 1))

    assert within(30, main()) == ["m2"]


@pytest.mark.parametrize("url", ["nats://127.0.0.1:1", "amqp://me:hidden@127.0.0.1:1", "kafka://127.0.0.1:1"])
def test_a_bus_that_is_away_is_told_in_one_sentence_without_its_password(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.topics.kafka.CALL_TIMEOUT", 1.0)

    with pytest.raises(BusAway) as caught:
        within(30, open_bus(url).check())
    assert "does not answer" in str(caught.value) and "hidden" not in str(caught.value)


def test_a_subject_that_no_stream_keeps_is_told(nats: NatsServer, topic: str) -> None:
    async def main() -> None:
        async with open_bus(nats.url).subscribe(topic, "one"):
            pass

    with pytest.raises(NoTopic, match="nats stream add"):
        within(30, main())
    with pytest.raises(NoTopic, match="nats stream add"):
        within(30, publish_one(nats.url, topic))


def test_a_queue_that_is_there_already_can_be_used(rabbit: RabbitServer, topic: str) -> None:
    async def main() -> list[str]:
        async with rabbit.connected() as channel:
            await channel.declare_queue(topic, durable=True)
        bus = open_bus(rabbit.url)
        await bus.publish(f"queue:{topic}", Outgoing(id="a", key="a", body=b"here"))
        await bus.close()
        async with bus.subscribe(f"queue:{topic}", "one") as subscription:
            return bodies(await gather(subscription, 1))

    assert within(30, main()) == ["here"]


def test_a_queue_that_is_not_there_is_told(rabbit: RabbitServer, topic: str) -> None:
    async def main() -> None:
        async with open_bus(rabbit.url).subscribe(f"queue:{topic}", "one"):
            pass

    with pytest.raises(NoTopic, match="declare it first"):
        within(30, main())
    with pytest.raises(NoTopic, match="declare it first"):
        within(30, publish_one(rabbit.url, f"queue:{topic}"))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://h", "must begin with nats://"),
        ("nats://", "names no host"),
        ("nats://h?wrong=1", "no option `wrong`"),
        ("nats://h?from=middle", "`from` must be first or new"),
        ("nats://h?ack_wait=soon", "`ack_wait` must be a duration"),
        ("amqp://h?from=new", "no option `from`"),
        ("kafka://h?session=1", "no option `session`"),
    ],
)
def test_an_address_that_cannot_be_is_refused(url: str, why: str) -> None:
    with pytest.raises(BadBus, match=why):
        open_bus(url)


def test_a_bus_that_is_not_set_is_told_with_those_that_are() -> None:
    with pytest.raises(UnknownBus, match="no bus 'other' here \\(main\\)"):
        Buses({"main": "nats://h"})["other"]


def test_groups_are_safe_names_and_never_alike() -> None:
    groups = {
        group_of("penstock", workflow, event, topic)
        for workflow in ("a.b", "a_b")
        for event in (None, "é x", "é/x")
        for topic in ("t", "u")
    }
    assert len(groups) == 12
    assert all(set(group) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789_-") for group in groups)
