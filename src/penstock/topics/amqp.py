"""AMQP 0-9-1, as RabbitMQ speaks it: a durable queue for each group, bound to a topic exchange.

`queue:NAME` in place of a topic is a queue that is there already: whoever takes from it shares its messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from penstock.topics.address import Address
from penstock.topics.backlog import Backlog
from penstock.topics.bus import MAX_IN_HAND, Message, Outgoing, SentAt, never_said
from penstock.topics.errors import BusAway, MissingLibrary, NoTopic

CALL_TIMEOUT = 10.0
"""Seconds that one question to the server may take."""
EXCHANGE = "amq.topic"
QUEUE = "queue:"
_CLOUD = ("cloudevents:", "cloudevents_")


class AmqpBus:
    """See `topics.bus.Bus`. A topic is a routing key of the exchange, where subscribed to a pattern of them."""

    def __init__(self, address: Address) -> None:
        address.reject_unknown("group", "exchange")
        self._address = address
        self._exchange = address.options.get("exchange", EXCHANGE)
        self._connection: Any = None
        self._channel: Any = None
        self._target_there: Any = None
        self._opening = asyncio.Lock()
        try:
            import aio_pika
        except ImportError:
            raise MissingLibrary(address.url, "amqp") from None
        self._pika = aio_pika

    @asynccontextmanager
    async def subscribe(
        self, topic: str, group: str, since: datetime | None = None, sent_at: SentAt = never_said
    ) -> AsyncIterator[_AmqpSubscription]:
        connection = await self._connect()
        try:
            async with self._asking():
                channel = await connection.channel()
                await channel.set_qos(prefetch_count=MAX_IN_HAND)
                queue = await self._queue(channel, topic, group)
                lie = queue.declaration_result.message_count
                backlog = None if since is None else Backlog(since, lie, _dated(sent_at))
                subscription = _AmqpSubscription(self._address.url, queue.name, self._asking, backlog)
                connection.close_callbacks.add(subscription.lost)
                channel.close_callbacks.add(subscription.lost)
                under = await channel.get_underlay_channel()
                under.on_consumer_cancel_callbacks.add(subscription.canceled)
                tag = await queue.consume(subscription.put)
            yield subscription
            with suppress(Exception):
                async with self._asking():
                    await queue.cancel(tag)
        finally:  # the server gives what is in hand to the next, in order
            await self._close(connection)

    async def _queue(self, channel: Any, topic: str, group: str) -> Any:
        if topic.startswith(QUEUE):
            try:
                return await channel.get_queue(topic.removeprefix(QUEUE), ensure=True)
            except self._pika.exceptions.ChannelNotFoundEntity:
                raise _no_queue(topic) from None
        queue = await channel.declare_queue(group, durable=True)
        await queue.bind(await self._target(channel), topic)
        return queue

    async def _target(self, channel: Any) -> Any:
        try:
            return await channel.get_exchange(self._exchange, ensure=True)
        except self._pika.exceptions.ChannelNotFoundEntity:
            message = f"there is no exchange '{self._exchange}': declare it first, of type topic"
            raise NoTopic(message) from None

    async def publish(self, topic: str, message: Outgoing) -> None:
        body = self._pika.Message(
            message.body,
            message_id=message.id,
            content_type=message.headers.get("content-type"),
            headers={name: value for name, value in message.headers.items() if name != "content-type"},
            delivery_mode=self._pika.DeliveryMode.PERSISTENT,
            timestamp=datetime.now(UTC),
        )
        async with self._asking():
            channel, exchange = await self._publishing()
            if not topic.startswith(QUEUE):
                await exchange.publish(body, topic, mandatory=False)
                return
            try:
                await channel.default_exchange.publish(body, topic.removeprefix(QUEUE), mandatory=True)
            except self._pika.exceptions.PublishError:
                raise _no_queue(topic) from None

    async def check(self) -> str:
        connection = await self._connect()
        try:
            async with self._asking():
                await self._target(await connection.channel())
            return f"AMQP, with the exchange {self._exchange}"
        finally:
            await self._close(connection)

    async def close(self) -> None:
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            await self._close(connection)

    async def _close(self, connection: Any) -> None:
        """Whatever state it is in."""
        with suppress(Exception):
            async with asyncio.timeout(CALL_TIMEOUT):
                await connection.close()

    async def _publishing(self) -> tuple[Any, Any]:
        """The channel, which confirms, and the exchange."""
        async with self._opening:
            if self._channel is None or self._channel.is_closed or self._connection.is_closed:
                await self.close()
                self._connection = await self._connect()
                self._channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
                self._target_there = await self._target(self._channel)
            return self._channel, self._target_there

    async def _connect(self) -> Any:
        async with self._asking():
            return await self._pika.connect(self._address.servers)

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[None]:
        """A question that the server may leave unanswered: its client waits for ever. Raises BusAway."""
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                yield
        except (OSError, TimeoutError, RuntimeError, self._pika.exceptions.AMQPError) as error:
            raise BusAway(self._address.url, error) from error


class _AmqpSubscription:
    """See `topics.bus.Subscription`. Messages come by themselves, as many as may be in hand."""

    def __init__(
        self,
        url: str,
        queue: str,
        asking: Callable[[], AbstractAsyncContextManager[None]],
        backlog: Backlog | None = None,
    ) -> None:
        self._url, self._queue, self._asking, self._backlog = url, queue, asking, backlog
        self._waiting: asyncio.Queue[Any] = asyncio.Queue()
        self._lost: BusAway | None = None

    async def put(self, message: Any) -> None:
        self._waiting.put_nowait(message)

    def lost(self, _: Any, error: BaseException | None = None) -> None:
        """The connection is gone: who waits must not wait for ever."""
        self._lost = BusAway(self._url, error or "the connection is lost")
        self._waiting.put_nowait(None)

    def canceled(self, _: Any) -> None:
        """The queue is no more, or has moved, and the connection is well: no more would ever come, nor an error."""
        self._waiting.put_nowait(None)

    async def take(self, limit: int = MAX_IN_HAND) -> list[Message]:
        while self._backlog is not None and not self._backlog.over:
            old, found = self._backlog.sift(await self._next(MAX_IN_HAND))
            await self.done(old)
            if found:
                return found
        return await self._next(limit)

    async def _next(self, limit: int) -> list[Message]:
        found = [await self._waiting.get()]
        while len(found) < limit and not self._waiting.empty():
            found.append(self._waiting.get_nowait())
        if None in found:
            self._waiting.put_nowait(None)
            found = found[: found.index(None)]
            if self._lost is not None:
                raise self._lost
            if not found:  # what came before may be nowhere else any more
                why = "it was deleted, or has moved; it is asked for anew"
                raise BusAway(self._url, why, f"gives no more from the queue '{self._queue}'")
        return [_message(each) for each in found]

    async def done(self, messages: Sequence[Message]) -> None:
        async with self._asking():
            for message in messages:
                await message.token.ack()


def _dated(sent_at: SentAt) -> SentAt:
    """When a message was sent by its timestamp, which counts in seconds, else by what it tells itself."""

    def dated(message: Message) -> datetime | None:
        stamp: datetime | None = message.token.timestamp
        return sent_at(message) if stamp is None else stamp.replace(microsecond=999_999)

    return dated


def _no_queue(topic: str) -> NoTopic:
    return NoTopic(f"there is no queue '{topic.removeprefix(QUEUE)}': declare it first")


def _message(found: Any) -> Message:
    headers = {**_properties(found), **{_name(n): _text(each) for n, each in (found.headers or {}).items()}}
    if found.content_type:
        headers["content-type"] = found.content_type
    return Message(id=found.message_id or None, body=found.body, headers=headers, token=found)


def _properties(found: Any) -> dict[str, str]:
    """What the sender and the broker say beside the headers: of a message without an id some of it may be one."""
    said = {
        "timestamp": found.timestamp.isoformat() if found.timestamp else None,
        "correlation-id": found.correlation_id,
        "type": found.type,
        "app-id": found.app_id,
        "routing-key": found.routing_key,
        "redelivered": "true" if found.redelivered else None,
    }
    return {f"amqp-{name}": _text(value) for name, value in said.items() if value}


def _name(name: str) -> str:
    low = name.lower()
    for prefix in _CLOUD:
        if low.startswith(prefix):
            return f"ce-{low.removeprefix(prefix)}"
    return low


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
