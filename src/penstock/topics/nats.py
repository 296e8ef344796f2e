"""NATS JetStream: a durable pull consumer for each group, on the stream that has the topic's subject.

A message comes again `ack_wait` after who took it was killed. Who follows waits that long where something is
still in hand: what is new would overtake it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from penstock.topics.address import Address
from penstock.topics.bus import MAX_IN_HAND, Message, Outgoing, SentAt, never_said
from penstock.topics.errors import BusAway, MessageRefused, MissingLibrary, NoTopic

CALL_TIMEOUT = 5.0
"""Seconds that one question to the server may take."""
LOOK = 5.0
"""Seconds after which a wait for messages looks whether the server is still there."""
ACK_WAIT = 10.0


class NatsBus:
    """See `topics.bus.Bus`. A topic is a subject, which may have wildcards where it is subscribed to."""

    def __init__(self, address: Address) -> None:
        address.reject_unknown("group", "from", "ack_wait", "token")
        self._address = address
        self._new_only = address.choice("from", "first", "new") == "new"
        self._ack_wait = address.seconds("ack_wait", ACK_WAIT)
        self._publisher: Any = None
        self._opening = asyncio.Lock()
        try:
            import nats
        except ImportError:
            raise MissingLibrary(address.url, "nats") from None
        self._nats = nats

    @asynccontextmanager
    async def subscribe(
        self, topic: str, group: str, since: datetime | None = None, sent_at: SentAt = never_said
    ) -> AsyncIterator[_NatsSubscription]:
        client = await self._connect()
        try:
            with self._away():
                taken = await self._consumer(client.jetstream(), topic, group, since)
            subscription = _NatsSubscription(self._address.url, client, taken)
            holding = asyncio.create_task(subscription.hold(self._ack_wait / 3))
            try:
                yield subscription
            finally:
                holding.cancel()
                await asyncio.gather(holding, return_exceptions=True)
                await subscription.give_back()
        finally:
            await _close(client)

    async def _consumer(self, stream: Any, topic: str, group: str, since: datetime | None) -> Any:
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
        from nats.js.errors import NotFoundError

        kept = await self._stream_of(stream, topic)
        policy, first = DeliverPolicy.NEW if self._new_only else DeliverPolicy.ALL, None
        if since is not None:
            policy, first = DeliverPolicy.BY_START_TIME, since.astimezone(UTC)
            with suppress(NotFoundError):
                await stream.delete_consumer(kept, group)
        try:
            left = (await stream.consumer_info(kept, group)).num_ack_pending
        except NotFoundError:
            wanted = ConsumerConfig(
                durable_name=group,
                filter_subject=topic,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=self._ack_wait,
                deliver_policy=policy,
                opt_start_time=first,
                max_ack_pending=4 * MAX_IN_HAND,
            )
            await stream.add_consumer(kept, wanted)
            left = 0
        if left:
            await asyncio.sleep(self._ack_wait)
        return await stream.pull_subscribe_bind(consumer=group, stream=kept)

    async def _stream_of(self, stream: Any, topic: str) -> str:
        from nats.js.errors import NotFoundError

        try:
            return str(await stream.find_stream_name_by_subject(topic))
        except NotFoundError:
            raise self._no_stream(topic) from None

    def _no_stream(self, topic: str) -> NoTopic:
        return NoTopic(
            f"no stream of JetStream keeps the subject '{topic}': make one, such as with "
            f"`nats stream add --subjects '{topic}'`"
        )

    async def publish(self, topic: str, message: Outgoing) -> None:
        from nats.js.errors import NoStreamResponseError

        client = await self._connected()
        headers = {**message.headers, "Nats-Msg-Id": f"{message.id} {topic}"}
        try:
            with self._away():
                await client.jetstream().publish(topic, message.body, timeout=CALL_TIMEOUT, headers=headers)
        except BusAway as error:
            if isinstance(error.__cause__, NoStreamResponseError):
                raise self._no_stream(topic) from None
            errors = self._nats.errors
            if isinstance(error.__cause__, errors.MaxPayloadError | errors.BadSubjectError):
                raise MessageRefused(topic, error.__cause__) from None
            raise

    async def check(self) -> str:
        client = await self._connect()
        try:
            with self._away():
                await client.jetstream().account_info()
            return f"NATS {client.connected_server_version}, with JetStream"
        finally:
            await _close(client)

    async def close(self) -> None:
        client, self._publisher = self._publisher, None
        if client is not None:
            await _close(client)

    async def _connected(self) -> Any:
        async with self._opening:
            if self._publisher is None or not self._publisher.is_connected:
                await self.close()
                self._publisher = await self._connect()
            return self._publisher

    async def _connect(self) -> Any:
        address = self._address
        lone = address.password is None  # then the user is a token
        with self._away():
            async with asyncio.timeout(CALL_TIMEOUT):
                return await self._nats.connect(
                    [f"nats://{host}" for host in address.hosts.split(",")],
                    user=None if lone else address.user,
                    password=address.password,
                    token=address.options.get("token") or (address.user if lone else None),
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=int(CALL_TIMEOUT),
                    ping_interval=10,
                    error_cb=_quiet,
                )

    @contextmanager
    def _away(self) -> Iterator[None]:
        with away(self._address.url, self._nats.errors.Error):
            yield


class _NatsSubscription:
    """See `topics.bus.Subscription`."""

    def __init__(self, url: str, client: Any, taken: Any) -> None:
        self._url, self._client, self._taken = url, client, taken
        self._in_hand: dict[int, Any] = {}

    async def take(self, limit: int = MAX_IN_HAND) -> list[Message]:
        import nats.errors

        while True:
            if not self._client.is_connected:
                raise BusAway(self._url, "the connection is lost")
            with suppress(TimeoutError, nats.errors.TimeoutError):
                with away(self._url, nats.errors.Error, but=(nats.errors.TimeoutError,)):
                    found = await self._taken.fetch(limit, timeout=LOOK)
                for each in found:
                    self._in_hand[id(each)] = each
                if found:  # none where the consumer was deleted meanwhile: the next look is told
                    return [_message(each) for each in found]

    async def done(self, messages: Sequence[Message]) -> None:
        import nats.errors

        with away(self._url, nats.errors.Error):
            for message in messages:
                await message.token.ack()
                self._in_hand.pop(id(message.token), None)
            await self._client.flush(timeout=int(CALL_TIMEOUT))

    async def hold(self, pace: float) -> None:
        """Say now and then that what is in hand is worked on: it would come again."""
        while True:
            await asyncio.sleep(pace)
            with suppress(Exception):  # whoever takes or finishes is told
                for each in list(self._in_hand.values()):
                    await each.in_progress()

    async def give_back(self) -> None:
        """What is in hand comes again at once, and in order."""
        with suppress(Exception):  # it comes again after its time, all the same
            for each in self._in_hand.values():
                await each.nak()
            await self._client.flush(timeout=int(CALL_TIMEOUT))


def _message(found: Any) -> Message:
    headers = {name.lower(): value for name, value in (found.headers or {}).items()}
    place = found.metadata
    # A stream that is made anew counts from 1 again: without the time its messages would be taken for repeats.
    id = headers.get("nats-msg-id") or f"{place.stream}:{place.sequence.stream}:{place.timestamp.isoformat()}"
    return Message(id=id, body=found.data, headers=headers, token=found)


@contextmanager
def away(url: str, *errors: type[Exception], but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """What a client library raises, as one thing."""
    caught: tuple[type[Exception], ...] = (OSError, TimeoutError, asyncio.InvalidStateError, *errors)
    try:
        yield
    except but:
        raise
    except caught as error:
        raise BusAway(url, error) from error


async def _close(client: Any) -> None:
    """Whatever state it is in."""
    with suppress(Exception):
        async with asyncio.timeout(CALL_TIMEOUT):
            await client.close()


async def _quiet(error: Exception) -> None:
    """Whoever asks is told; the library would log it besides."""
