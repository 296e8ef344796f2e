"""Where a workflow has no room for more runs, messages wait with the broker: it takes back what is in hand for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from penstock import Engine
from penstock.sources.topic import HOLD_TIMEOUT, TopicReader
from penstock.topics.bus import MAX_IN_HAND, Message
from penstock.topics.errors import BusAway
from tests.durable.conftest import VirtualPlace
from tests.sources.feeding.feeders import fed, subjects
from tests.waiting import pass_time

LIMIT = 2 * HOLD_TIMEOUT
SLOW = f"""
penstock: 1
name: slow
max_running: 1
source: {{kind: topic, bus: main, topic: orders, subject: body.order}}
steps:
  a: {{task: wait, with: {{for: {1.5 * LIMIT:g}s}}}}
"""


class Impatient:
    """A broker like RabbitMQ: of whoever keeps a message for too long it believes nothing, and gives it again."""

    def __init__(self, *orders: str) -> None:
        self.left = [Message(id=None, body=f'{{"order": "{each}"}}'.encode()) for each in orders]

    def __getitem__(self, name: str) -> Impatient:
        return self

    def group(self, name: str) -> str:
        return name

    @asynccontextmanager
    async def subscribe(self, *_: Any) -> AsyncIterator[Hand]:
        yield Hand(self)


class Hand:
    """What was given to one subscriber, and since when he has it."""

    def __init__(self, broker: Impatient) -> None:
        self._broker, self._new = broker, list(broker.left)
        self._since = asyncio.get_running_loop().time()

    async def take(self, limit: int = MAX_IN_HAND) -> list[Message]:
        while not self._new:
            await pass_time(1)
        found, self._new = self._new[:limit], self._new[limit:]
        return found

    async def done(self, messages: Sequence[Message]) -> None:
        if asyncio.get_running_loop().time() - self._since > LIMIT:
            raise BusAway("amqp://rabbit.example", "delivery acknowledgement timed out")
        for each in messages:
            self._broker.left.remove(each)


def test_a_message_without_an_id_whose_run_has_to_wait_for_long_makes_one_run() -> None:
    broker = Impatient("a", "b", "c")

    async def main(engine: Engine) -> list[str]:
        await engine.publish(SLOW, start=True)
        async with fed(engine, {"topic": lambda want, _: TopicReader(want, broker)}):  # type: ignore[arg-type]
            await pass_time(8 * LIMIT)
            return await subjects(engine)

    assert VirtualPlace().run(main, feed=False) == ["a", "b", "c"]
    assert broker.left == []
