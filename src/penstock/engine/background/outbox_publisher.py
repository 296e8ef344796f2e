"""Publishes the messages of the outbox to brokers and webhooks, and deletes them when they are accepted.

Each bus is served by one node at a time, its topics side by side, the messages of one run one after the other. A crash
between the broker's word and ours publishes a message again, under the same id; none is lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

import msgspec
from msgspec import Struct

from penstock.engine.background.webhooks import NotTaken, Webhooks, shown_address
from penstock.flow.compile.compile import WEBHOOKS
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Outside
from penstock.runtime.codec.messages import encode_message
from penstock.runtime.decisions.correlation import RETENTION
from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.background_tasks import is_set_within
from penstock.runtime.node.node import Node
from penstock.sources.triggers.lease import LEASE_DURATION, Lost, NodeLease, TriggerLease
from penstock.store.errors import StoreError
from penstock.store.rows.change import EventId, PendingEvent
from penstock.store.rows.outbox import OutboxMessageRow
from penstock.topics.bus import Outgoing
from penstock.topics.buses import Buses
from penstock.topics.errors import BusAway, MessageRefused

LOCK_PREFIX = "/feeds/outbox/"
MAX_BATCH = 200
"""Messages of a topic that are in flight at a time."""
SHARED_POLL_INTERVAL, EXCLUSIVE_POLL_INTERVAL = 2.0, 30.0
"""Seconds between polls for messages without a notification; a node that owns its store exclusively has none."""
MIN_DELAY, MAX_DELAY = 1.0, 30.0
"""Seconds between two tries of what failed."""
MAX_WEBHOOK_DELAY, MAX_RETRY_AFTER = 300.0, 3600.0
"""The same of a webhook that fails; and of one that says itself when to call again."""
STOP_TIMEOUT = 5.0
"""Seconds that a stop waits for unpublished messages."""
HEADERS = {"content-type": "application/cloudevents+json"}

log = logging.getLogger("penstock.topics")


class Taker(Protocol):
    """The receiver of messages: a broker, or the caller of webhooks."""

    async def publish(self, topic: str, message: Outgoing) -> None: ...


class _Named(Struct):
    """The id in the body of a message."""

    id: str


_named = msgspec.json.Decoder(_Named).decode


class Publishing:
    """The publisher of one node. `run` it on a loop, `stop` it after the node. `published`, `failures`: by bus."""

    def __init__(
        self, node: Node, buses: Buses, lease: timedelta = LEASE_DURATION, webhooks: Webhooks | None = None
    ) -> None:
        self.node, self.buses, self._webhooks, self._lease = node, buses, webhooks, lease
        self.node_lease = NodeLease(node.store, node.clock.now, shared=node.shared, lease=lease)
        self.published: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        served = (*buses.urls, *(() if webhooks is None else (WEBHOOKS,)))
        self._wakes = {name: asyncio.Event() for name in served}
        self._held: dict[str, TriggerLease] = {}
        self._failing: set[str] = set()
        self._rests: dict[tuple[str, str], tuple[float, int]] = {}  # until when, how often it failed in a row
        node.advancer.observe(self._settled)

    def _settled(self, decisions: Sequence[Decision]) -> None:
        """Decisions are durable. On the way of every step: only looks."""
        for decision in decisions:
            change = decision.change
            if change is not None and change.has_extras:
                for message in change.outbox_messages:
                    if message.bus in self._wakes:
                        self._wakes[message.bus].set()

    async def run(self) -> None:
        """Serve every bus that this node knows, without end."""
        async with asyncio.TaskGroup() as group:
            for name in self._wakes:
                group.create_task(self._serve(name), name=f"publisher of {name}")
            if self.node_lease.shared:
                group.create_task(self._stay(), name="presence of the publisher")

    async def stop(self) -> None:
        """Publish what can be at once, and leave the rest to others; the loop has ended before."""
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await asyncio.gather(
                    *map(self._drain, self._wakes.keys() - self._failing), return_exceptions=True
                )
        except TimeoutError:
            log.info("stopped before everything was published: it is when the next node starts")
        try:
            for lease in self._held.values():
                await lease.give_back()
            await self.node_lease.release()
        except PenstockError as error:
            log.info("others publish only in %g s: %s", self._lease.total_seconds(), error)
        await self.buses.close()

    # -- one bus -------------------------------------------------------------------------------------------

    async def _serve(self, bus: str) -> None:
        look, failed = SHARED_POLL_INTERVAL if self.node.shared else EXCLUSIVE_POLL_INTERVAL, 0
        while True:
            wake = self._wakes[bus]
            wake.clear()
            try:
                wait = min(look, await self._drain(bus))
                failed = 0
                self._failing.discard(bus)
            except Lost:
                self._held.pop(bus, None)
                wait = MIN_DELAY
            except Exception as error:
                failed += 1
                self._failing.add(bus)
                self.failures[bus] += 1
                log.warning("nothing is published on bus '%s' just now: %s", bus, error)
                wait = min(MIN_DELAY * 2 ** min(failed - 1, 10), MAX_DELAY)
                await asyncio.sleep(wait)
                continue
            await is_set_within(wake, wait)

    async def _drain(self, bus: str) -> float:
        """Publish what waits for a bus, as long as something can be; after how many seconds to look again at most.

        Raises StoreError, Lost, UnknownBus, BadBus, and BusAway: nothing can be published there now.
        """
        while True:
            now = asyncio.get_running_loop().time()
            rests = {topic: until - now for (name, topic), (until, _) in self._rests.items() if name == bus}
            found = await self.node.store.outbox_messages(bus, MAX_BATCH)
            messages = [each for each in found if rests.get(each.topic, 0) <= 0]
            if not messages or not await self._hold(bus):
                return max(0.05, min((left for left in rests.values() if left > 0), default=MAX_DELAY))
            await self._publish(bus, messages)

    async def _hold(self, bus: str) -> bool:
        """Whether this node may publish there: no other one does."""
        if bus not in self._held:
            if not self.node_lease.alive:
                await self.node_lease.renew()
            lease = await TriggerLease.take(
                self.node.store, self.node_lease, f"{LOCK_PREFIX}{bus}/", "outbox"
            )
            if lease is None:
                return False
            self._held[bus] = lease
        return True

    async def _stay(self) -> None:
        """Renew this node's lease, so other nodes do not take its topics."""
        while True:
            try:
                if self._held:
                    await self.node_lease.renew()
            except Lost:
                self._held.clear()
            except StoreError as error:
                log.info("this node may lose its buses to another: %s", error)
            await asyncio.sleep(self._lease.total_seconds() / 4)

    # -- messages -------------------------------------------------------------------------------------------

    async def _publish(self, bus: str, messages: Sequence[OutboxMessageRow]) -> None:
        """Those of different runs and topics side by side. Raises BusAway, once what got through is noted."""
        lines: dict[tuple[str, str], list[OutboxMessageRow]] = {}
        for message in messages:
            lines.setdefault((message.topic, message.run), []).append(message)
        sent: list[int] = []
        tries = await asyncio.gather(
            *(self._publish_line(bus, line, sent) for line in lines.values()), return_exceptions=True
        )
        if sent:
            await self.node.store.sent(sent)
            self.published[bus] += len(sent)
        failed: set[str] = set()
        for (topic, _), error in zip(lines, tries, strict=True):
            if isinstance(error, PenstockError) and not isinstance(error, BusAway | Lost | StoreError):
                if topic not in failed:
                    self._rest(bus, topic, error)
                failed.add(topic)
            elif isinstance(error, BaseException):
                raise error
            elif topic not in failed:
                self._rests.pop((bus, topic), None)

    async def _publish_line(self, bus: str, line: Sequence[OutboxMessageRow], sent: list[int]) -> None:
        """The messages of one run to one topic, each when the broker has the one before."""
        for row in line:
            if not self.node_lease.alive:
                raise Lost(bus)
            id = _named(row.body).id
            message = Outgoing(id=id, key=row.run, body=row.body, headers=HEADERS)
            try:
                await self._taker(bus).publish(row.topic, message)
            except MessageRefused as error:
                await self._dead_letter(bus, row, id, error)
            sent.append(row.id)

    def _taker(self, bus: str) -> Taker:
        """Raises UnknownBus, BadBus."""
        return self._webhooks if bus == WEBHOOKS and self._webhooks is not None else self.buses[bus]

    def _rest(self, bus: str, topic: str, error: PenstockError) -> None:
        """Pause one topic; the others continue."""
        self.failures[bus] += 1
        _, failed = self._rests.get((bus, topic), (0.0, 0))
        wait = min(MIN_DELAY * 2 ** min(failed, 10), MAX_DELAY if bus != WEBHOOKS else MAX_WEBHOOK_DELAY)
        if isinstance(error, NotTaken) and error.wait is not None:
            wait = max(wait, min(error.wait.total_seconds(), MAX_RETRY_AFTER))
        self._rests[bus, topic] = asyncio.get_running_loop().time() + wait, failed + 1
        log.warning("nothing is published to %s just now: %s", _place(bus, topic), error)

    async def _dead_letter(self, bus: str, message: OutboxMessageRow, id: str, error: MessageRefused) -> None:
        """Keep what the broker will never take where people look. Raises StoreError."""
        place = (
            {"url": shown_address(message.topic)} if bus == WEBHOOKS else {"bus": bus, "topic": message.topic}
        )
        said = {**place, "run": message.run, "id": id, "bytes": len(message.body)}
        until = self.node.clock.now() + RETENTION
        redact = await self.node.dispatch.redaction()
        kept = PendingEvent(
            keys=(),
            event="notify",
            body=encode_message(Outside(event="notify", data=said, id=id)),
            reason=f"what run {message.run} publishes was set aside: {redact(str(error))}"[:2000],
            until=until,
            seen=EventId(f"outbox/{bus}/{message.topic}", id, until),
        )
        await self.node.store.keep(kept)


def _place(bus: str, topic: str) -> str:
    """Where a message goes, for people."""
    if bus == WEBHOOKS:
        return f"the webhook {shown_address(topic)}"
    return f"topic '{topic}' of bus '{bus}'"
