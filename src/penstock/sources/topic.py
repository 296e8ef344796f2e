"""The `topic` source and `external.from {kind: topic}`: acknowledges each message once its effect is durable.

A message that cannot be taken is set aside after a few tries, where people see it, and the next one is taken. One that
cannot be taken now, because the database or the broker is away, stays with the broker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Conflict, Invalid, OtherWorkflow
from penstock.runtime.json.strict_json import Unreadable, WrongType
from penstock.sources.dead_letters import add_dead_message
from penstock.sources.errors import SourceStopped
from penstock.sources.hooks.envelope import Message, messages_of_topic
from penstock.sources.message_mapping import event_asked, start_asked
from penstock.sources.triggers.trigger import Means, SourceReader, Start, Trigger, TriggerTarget
from penstock.store.errors import BadText
from penstock.topics.bus import Message as Taken
from penstock.topics.bus import Subscription, group_of
from penstock.topics.buses import Buses

MAX_DELIVERIES = 3
"""How often a rejected message is tried before it is set aside."""
RETRY_DELAY = 0.1
"""Seconds before the second try; doubled before each further one."""
HOLD_TIMEOUT = 60.0
"""Seconds for which messages are in hand while there is no room for their runs. A broker takes them back after a while
(Kafka after five minutes, RabbitMQ after half an hour) and gives them again, though their runs are then made.
"""

_REFUSED = (Unreadable, WrongType, Invalid, Conflict, BadText)
"""What is wrong with a message itself, whatever is tried."""

log = logging.getLogger("penstock.topics")


def reader_of(target: TriggerTarget, means: Means) -> SourceReader:
    """The reader of a source or of an outside event that comes from a topic."""
    return TopicReader(target, Buses(means.buses))


class TopicReader:
    """Takes messages in the order of the broker, many at a time."""

    def __init__(self, target: TriggerTarget, buses: Buses) -> None:
        self._buses = buses
        if target.source is not None:
            self._bus, self._topic = target.source.options["bus"], target.source.options["topic"]
        else:
            says = None if target.external is None else target.external.from_
            assert says is not None and says.bus is not None and says.topic is not None
            self._bus, self._topic = says.bus, says.topic
        self._event = None if target.external is None else target.external.name

    async def run(self, trigger: Trigger) -> None:
        """See `SourceReader.run`. Raises UnknownBus, BadBus, BusAway, NoTopic, and StoreError."""
        bus = self._buses[self._bus]
        group = group_of(self._buses.group(self._bus), trigger.workflow, self._event, self._topic)
        stopped = asyncio.create_task(trigger.stopping.wait())
        try:
            while not trigger.stopping.is_set():
                async with bus.subscribe(self._topic, group) as subscription:
                    await trigger.save(trigger.state)  # earlier errors are over
                    await self._take(trigger, subscription, stopped)
                if trigger.external is None:
                    await trigger.room()
        finally:
            stopped.cancel()

    async def _take(self, trigger: Trigger, subscription: Subscription, stopped: asyncio.Task[Any]) -> None:
        """Take messages until it is to stop, or there is no room for long: the rest waits where it comes from."""
        clock = asyncio.get_running_loop().time
        until = clock() + HOLD_TIMEOUT
        while (taken := await next_messages(subscription, stopped)) is not None:
            if trigger.external is None and trigger.flow.definition.max_running is None:
                await self._do_all(trigger, subscription, taken)
                continue
            for message in taken:
                if trigger.external is None and not await trigger.room(until - clock()):
                    return
                await self._each(trigger, message)
                await subscription.done([message])

    async def _do_all(self, trigger: Trigger, subscription: Subscription, taken: list[Taken]) -> None:
        """Do what the messages ask for, together; what is durable is done."""
        whole: list[Taken] = []
        starts: list[tuple[Taken, Start]] = []
        for message in taken:
            try:
                asked = [start_asked(_options(trigger), each) for each in _read(message)]
            except _REFUSED:
                await self._each(trigger, message)
                continue
            whole.append(message)
            starts += [(message, each) for each in asked if each is not None]
        failed = await self._start(trigger, starts)
        for message in whole:
            if id(message) in failed:
                await self._each(trigger, message)
        await subscription.done(taken)

    async def _start(self, trigger: Trigger, starts: Sequence[tuple[Taken, Start]]) -> set[int]:
        """Start what can be started, all together; the messages that are to be looked at one by one."""
        failed: set[int] = set()
        done = await trigger.start_many([start for _, start in starts])
        for (message, _), result in zip(starts, done, strict=True):
            if isinstance(result, _REFUSED):
                failed.add(id(message))
            elif isinstance(result, Exception):
                raise result
        return failed

    async def _each(self, trigger: Trigger, message: Taken) -> None:
        """One message alone: tried a few times, then set aside. Raises whatever is not the message's fault."""
        for number in range(1, MAX_DELIVERIES + 1):
            try:
                await self._try(trigger, message)
                return
            except SourceStopped:
                raise
            except (Unreadable, WrongType) as error:
                return await self._dead_letter(trigger, message, error)
            except _REFUSED as error:
                if number == MAX_DELIVERIES:
                    return await self._dead_letter(trigger, message, error)
            await trigger.rest(RETRY_DELAY * 2 ** (number - 1))

    async def _try(self, trigger: Trigger, message: Taken) -> None:
        for each in _read(message):
            if trigger.external is None:
                start = start_asked(_options(trigger), each)
                if start is not None:
                    await self._start_one(trigger, start)
            else:
                await _emit(trigger, each)

    async def _start_one(self, trigger: Trigger, start: Start) -> None:
        (done,) = await trigger.start_many([start])
        if isinstance(done, Exception):
            raise done

    async def _dead_letter(self, trigger: Trigger, message: Taken, error: PenstockError) -> None:
        """Keep the message where people look for what nobody took. Raises StoreError."""
        why = await add_dead_message(
            trigger, message, error, event=self._event, bus=self._bus, topic=self._topic
        )
        log.warning("'%s' cannot take it: %s", trigger.workflow, why)


async def next_messages(subscription: Subscription, stopped: asyncio.Task[Any]) -> list[Taken] | None:
    """The next messages; None if the reader must stop."""
    taking = asyncio.create_task(subscription.take())
    try:
        await asyncio.wait((taking, stopped), return_when=asyncio.FIRST_COMPLETED)
        if taking.done():
            return taking.result()
        return None
    finally:
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)


def _read(message: Taken) -> list[Message]:
    """Raises Unreadable, WrongType."""
    return messages_of_topic(message.headers, message.body, message.id)


def _options(trigger: Trigger) -> dict[str, Any]:
    assert trigger.source is not None, "what comes from outside has no options of a source"
    return trigger.source.options


async def _emit(trigger: Trigger, message: Message) -> None:
    says = None if trigger.external is None else trigger.external.from_
    assert says is not None and trigger.external is not None
    asked = event_asked(says, message)
    if asked is None:
        return
    try:
        await trigger.emit(trigger.external.name, asked.data, key=asked.keys, set=asked.set, id=asked.id)
    except OtherWorkflow:
        return  # the same topic may feed several workflows
