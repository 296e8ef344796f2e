"""Kafka: a consumer group whose offsets are committed when a message is done.

Its library waits in threads of its own; each client has one here, and is only used in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from re import match
from typing import Any, TypeVar

from penstock.topics.address import Address
from penstock.topics.bus import MAX_IN_HAND, Message, Outgoing, SentAt, never_said
from penstock.topics.errors import BusAway, MessageRefused, MissingLibrary, NoTopic

CALL_TIMEOUT = 5.0
"""Seconds that one question to the brokers may take."""
LOOK = 1.0
"""Seconds that a thread waits for messages at a time: it cannot be interrupted."""

Result = TypeVar("Result")


class KafkaBus:
    """See `topics.bus.Bus`. Options with a dot in their name are those of librdkafka."""

    def __init__(self, address: Address) -> None:
        own = {name: value for name, value in address.options.items() if "." in name}
        address.reject_unknown("group", "from", *own)
        self._address = address
        try:
            import confluent_kafka
        except ImportError:
            raise MissingLibrary(address.url, "kafka") from None
        self._kafka = confluent_kafka
        self._from = "earliest" if address.choice("from", "first", "new") == "first" else "latest"
        self._common = {
            "bootstrap.servers": address.hosts,
            "socket.connection.setup.timeout.ms": int(CALL_TIMEOUT * 1000),
            "log_level": 0,
            **({} if address.user is None else {"sasl.username": address.user}),
            **({} if address.password is None else {"sasl.password": address.password}),
            **own,
        }
        self._producer: _Client | None = None

    @asynccontextmanager
    async def subscribe(
        self, topic: str, group: str, since: datetime | None = None, sent_at: SentAt = never_said
    ) -> AsyncIterator[_KafkaSubscription]:
        how = {
            "session.timeout.ms": 10_000,
            **self._common,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": self._from,
        }
        subscription = _KafkaSubscription(self._address.url, self._kafka)
        client = self._client(self._kafka.Consumer, {**how, "error_cb": subscription.failed})
        try:
            await client.call(lambda it: _reject_unknown(self._kafka, it, topic))
            given = {}
            if since is not None:
                places = await client.call(lambda it: _places(self._kafka, it, topic, since))
                given["on_assign"] = partial(_begin_at, places)
            await client.call(lambda it: it.subscribe([topic], **given))
            subscription.client = client
            yield subscription
        finally:
            with suppress(BusAway):
                await client.call(lambda it: it.close())
            client.close()

    async def publish(self, topic: str, message: Outgoing) -> None:
        if self._producer is None:
            how = {**self._common, "enable.idempotence": True, "message.timeout.ms": int(CALL_TIMEOUT * 1000)}
            self._producer = self._client(self._kafka.Producer, how)
        loop = asyncio.get_running_loop()
        told: asyncio.Future[Any] = loop.create_future()

        def delivered(error: Any, _: Any) -> None:
            loop.call_soon_threadsafe(lambda: None if told.done() else told.set_result(error))

        def send(producer: Any) -> None:
            headers = [(_outgoing(name), value.encode()) for name, value in message.headers.items()]
            headers.append(("message-id", message.id.encode()))
            try:
                producer.produce(
                    topic, message.body, message.key.encode(), headers=headers, on_delivery=delivered
                )
            except self._kafka.KafkaException as error:  # it is not even queued
                delivered(error.args[0], None)
            else:
                producer.flush(CALL_TIMEOUT)

        await self._producer.call(send)
        async with asyncio.timeout(CALL_TIMEOUT):
            error = await told
        if error is not None:
            unknown = self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART
            if error.code() in (unknown, self._kafka.KafkaError._UNKNOWN_TOPIC):
                raise _no_topic(topic)
            if error.code() == self._kafka.KafkaError.MSG_SIZE_TOO_LARGE:
                raise MessageRefused(topic, "it is too large")
            raise BusAway(self._address.url, str(error))

    async def check(self) -> str:
        from confluent_kafka.admin import AdminClient

        client = self._client(AdminClient, self._common)
        try:
            found = await client.call(lambda it: it.list_topics(timeout=CALL_TIMEOUT))
        finally:
            client.close()
        return f"Kafka, {len(found.brokers)} brokers"

    async def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.close()

    def _client(self, make: Callable[[dict[str, Any]], Any], how: dict[str, Any]) -> _Client:
        try:
            return _Client(self._address.url, make(how), self._kafka.KafkaException)
        except (self._kafka.KafkaException, ValueError, TypeError) as error:
            raise BusAway(self._address.url, error) from error


class _Client:
    """A client of the library, and the one thread in which it is used."""

    def __init__(self, url: str, client: Any, error: type[Exception]) -> None:
        self._url, self._client, self._error = url, client, error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kafka")

    async def call(self, what: Callable[[Any], Result]) -> Result:
        """Raises BusAway."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, what, self._client)
        except (self._error, BufferError, RuntimeError) as error:
            raise BusAway(self._url, error) from error

    def close(self) -> None:
        self._thread.shutdown(wait=False)


class _KafkaSubscription:
    """See `topics.bus.Subscription`."""

    client: _Client

    def __init__(self, url: str, kafka: Any) -> None:
        self._url, self._kafka = url, kafka
        self._why: str | None = None

    def failed(self, error: Any) -> None:
        """Told by the library, which mends what it can and else waits without a word."""
        if error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN or error.fatal():
            self._why = str(error)

    async def take(self, limit: int = MAX_IN_HAND) -> list[Message]:
        while True:
            found = await self.client.call(lambda it: it.consume(limit, LOOK))
            good = [each for each in found if each.error() is None]
            if good:
                self._why = None
                return [_message(each) for each in good]
            # What the library does not mend by itself ends the subscription.
            if found and found[0].error().code() != self._kafka.KafkaError._PARTITION_EOF:
                raise BusAway(self._url, str(found[0].error()))
            if self._why is not None:
                raise BusAway(self._url, self._why)

    async def done(self, messages: Sequence[Message]) -> None:
        last: dict[tuple[str, int], int] = {}
        for message in messages:
            topic, partition, offset = message.token
            last[topic, partition] = max(offset, last.get((topic, partition), 0))
        places = [
            self._kafka.TopicPartition(topic, partition, offset + 1)
            for (topic, partition), offset in last.items()
        ]
        if places:
            await self.client.call(lambda it: it.commit(offsets=places, asynchronous=False))


def _reject_unknown(kafka: Any, consumer: Any, topic: str) -> None:
    """A topic that is not there would be waited for without a word. Raises NoTopic."""
    if topic.startswith("^"):
        return
    found = consumer.list_topics(topic, timeout=CALL_TIMEOUT).topics.get(topic)
    if found is None or (
        found.error is not None and found.error.code() == kafka.KafkaError.UNKNOWN_TOPIC_OR_PART
    ):
        raise _no_topic(topic)


def _places(kafka: Any, consumer: Any, topic: str, since: datetime) -> dict[tuple[str, int], int]:
    """The first offset from a time on, of each partition; its end where nothing came later."""
    found = consumer.list_topics(timeout=CALL_TIMEOUT).topics.values()
    wanted = [each for each in found if each.topic == topic or (topic[0] == "^" and match(topic, each.topic))]
    at = int(since.timestamp() * 1000)
    asked = [kafka.TopicPartition(each.topic, number, at) for each in wanted for number in each.partitions]
    places = {}
    for place in consumer.offsets_for_times(asked, CALL_TIMEOUT) if asked else ():
        end = consumer.get_watermark_offsets(place, CALL_TIMEOUT)[1]
        places[place.topic, place.partition] = end if place.offset < 0 else place.offset
    return places


def _begin_at(places: Mapping[tuple[str, int], int], consumer: Any, given: list[Any]) -> None:
    """Begin there in the partitions that were given to us, unless the group was further."""
    found = consumer.committed(given, CALL_TIMEOUT)
    for place in found:
        place.offset = max(place.offset, places.get((place.topic, place.partition), place.offset))
    consumer.assign(found)
    known = [place for place in found if place.offset >= 0]
    if known:
        consumer.commit(offsets=known, asynchronous=False)


def _no_topic(topic: str) -> NoTopic:
    return NoTopic(f"the brokers have no topic '{topic}': make it, such as with `kafka-topics.sh --create`")


def _message(found: Any) -> Message:
    place = found.topic(), found.partition(), found.offset()
    headers = {_incoming(name): _text(value) for name, value in found.headers() or []}
    # A topic that is made anew counts from 0 again: without the time its messages would be taken for repeats.
    id = "/".join(map(str, (*place, found.timestamp()[1])))
    return Message(id=id, body=found.value() or b"", headers=headers, token=place)


def _incoming(name: str) -> str:
    low = name.lower()
    return f"ce-{low[3:]}" if low.startswith("ce_") else low


def _outgoing(name: str) -> str:
    return f"ce_{name[3:]}" if name.startswith("ce-") else name


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")
