"""Object notifications over a topic: the broker keeps each one until it is handled."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import Any

from penstock.flow.errors import PenstockError
from penstock.flow.views.run_view import time_text
from penstock.objects.address import Address
from penstock.objects.errors import OtherBucket
from penstock.objects.object_filter import Matching
from penstock.objects.s3_notifications import Notice, Odd, read_notices
from penstock.objects.stores import Stores
from penstock.runtime.json.strict_json import Unreadable, WrongType, read_json
from penstock.sources.dead_letters import add_dead_message
from penstock.sources.errors import SourceStopped
from penstock.sources.hooks.cloudevents import is_cloudevent, read_cloudevents
from penstock.sources.objects.notifications import Noticing, notices_of_events
from penstock.sources.objects.starts import ObjectSource, ObjectStarts
from penstock.sources.topic import next_messages
from penstock.sources.triggers.trigger import Trigger
from penstock.topics.bus import Message, group_of
from penstock.topics.buses import Buses

log = logging.getLogger("penstock.objects")


class ObjectTopicReader:
    """Starts runs of one workflow from the notifications of one store. Unreadable ones are set aside."""

    def __init__(self, address: Address, matching: Matching, stores: Stores, buses: Buses) -> None:
        self._address, self._matching, self._stores, self._buses = address, matching, stores, buses
        self._bus, self._topic = address.options["bus"], address.options["topic"]

    async def run(self, trigger: Trigger) -> None:
        """See `SourceReader.run`. Raises UnknownBus, BusAway, ObjectStoreAway and StoreError."""
        starts = ObjectStarts(
            trigger.node.store, trigger.node.flows, trigger.node.commands, self._stores, trigger
        )
        source = ObjectSource(trigger.workflow, self._matching)
        noticing = Noticing(self._stores, starts, lambda: [source])
        group = group_of(self._buses.group(self._bus), trigger.workflow, None, self._topic)
        stopped = asyncio.create_task(trigger.stopping.wait())
        since, state = await self._begin(trigger)
        try:
            async with self._buses[self._bus].subscribe(self._topic, group, since, sent_at) as subscription:
                # Earlier errors are over; until a message is taken, older ones may remain.
                await trigger.save(state if since is None else {**state, "skips": True})
                while (messages := await next_messages(subscription, stopped)) is not None:
                    await self._reject_stopped(trigger, state)
                    if since is not None:
                        await trigger.save(state)
                        since = None
                    notices = [notice for each in messages for notice in await self._read(trigger, each)]
                    await self._take(noticing, notices)
                    await subscription.done(messages)
        finally:
            stopped.cancel()

    async def _begin(self, trigger: Trigger) -> tuple[datetime | None, dict[str, Any]]:
        """When messages start counting after the source was stopped, and the state to store about it."""
        started, _ = await trigger.source_times()
        here = {"since": time_text(started)}
        known = trigger.state if isinstance(trigger.state, dict) else here
        if not trigger.was_stopped and known == here:
            return None, here
        since, _ = await trigger.by_our_clock(started)
        return since, here

    async def _reject_stopped(self, trigger: Trigger, state: dict[str, Any]) -> None:
        """Raises SourceStopped: it is, or was and is started again, and nobody here has noticed: begin anew."""
        _, now = await trigger.node.flows.newest(trigger.workflow)
        since, _ = await trigger.source_times()
        if not now.started or time_text(since) != state["since"]:
            raise SourceStopped(trigger.workflow)

    async def _take(self, noticing: Noticing, notices: list[Notice]) -> None:
        try:
            await noticing.take(self._address, notices)
        except OtherBucket:
            self._stores.store_counts[self._address.name].note("ignored", len(notices))

    async def _read(self, trigger: Trigger, message: Message) -> list[Notice]:
        odd: list[Unreadable] = []
        try:
            notices = notices_of(message.headers, message.body, lambda _, why: odd.append(why))
        except (Unreadable, WrongType) as error:
            await self._dead_letter(trigger, message, error)
            return []
        if odd:
            await self._dead_letter(trigger, message, odd[0])
        return notices

    async def _dead_letter(self, trigger: Trigger, message: Message, error: PenstockError) -> None:
        counts = self._stores.store_counts[self._address.name]
        counts.note("refused")
        counts.error = await add_dead_message(
            trigger, message, error, event=None, bus=self._bus, topic=self._topic
        )
        log.warning("%s", counts.error)


def sent_at(message: Message) -> datetime | None:
    """The latest time in a message, by the clock of the store; None if it has none."""
    try:
        notices = notices_of(message.headers, message.body, lambda *_: None)
    except (Unreadable, WrongType):
        return None
    return max((at for each in notices if (at := _time(each.transport.get("at"))) is not None), default=None)


def _time(said: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(said)
    except (TypeError, ValueError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return at if at.microsecond else at.replace(microsecond=999_999)  # some stores count in seconds


def notices_of(headers: Any, body: bytes, odd: Odd) -> list[Notice]:
    """The notices of a message; also in the envelope that SNS puts around them on their way to a queue.

    Raises Unreadable.
    """
    if is_cloudevent(headers):
        return notices_of_events(read_cloudevents(headers, body), odd)
    found = read_json(body)
    if (
        isinstance(found, dict)
        and found.get("Type") == "Notification"
        and isinstance(found.get("Message"), str)
    ):
        found = read_json(found["Message"].encode())
    return read_notices(found, odd)
