"""The interface of every broker: take messages, acknowledge them, publish, check the connection.

A message is taken until it is said to be done; whatever was taken and not done when a subscription ends comes again,
to whoever subscribes next in the same group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol

from msgspec import Struct

MAX_IN_HAND = 100
"""Messages that are in hand at a time."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class Message(Struct, frozen=True, kw_only=True):
    """One message as it came. Names of headers are in lower case; those of CloudEvents begin with `ce-`.

    `id` is the same whenever the message comes; None where neither the sender nor the broker gave it one.
    """

    id: str | None
    body: bytes
    headers: Mapping[str, str] = {}
    token: Any = None  # by which the broker knows it


SentAt = Callable[[Message], datetime | None]
"""When a message was sent, by what it tells; None: it does not tell."""


def never_said(_: Message) -> None:
    """Of messages that tell no time."""


class Outgoing(Struct, frozen=True, kw_only=True):
    """A message to publish. `key`: those with one key stay in order; `id`: a repeat is known by it."""

    id: str
    key: str
    body: bytes
    headers: Mapping[str, str] = {}


class Subscription(Protocol):
    """The messages of one topic, for one group, in the order of the broker: of a partition, a queue, a stream."""

    async def take(self, limit: int = MAX_IN_HAND) -> list[Message]:
        """The next messages, one at least: waits for it. Raises BusAway."""

    async def done(self, messages: Sequence[Message]) -> None:
        """These need not come again. Raises BusAway: they may then, all the same."""


class Bus(Protocol):
    """One broker."""

    def subscribe(
        self, topic: str, group: str, since: datetime | None = None, sent_at: SentAt = never_said
    ) -> AbstractAsyncContextManager[Subscription]:
        """Take the messages of a topic; the broker remembers for `group` which are done. Raises BusAway, NoTopic.

        With `since` those from before are done without being taken. Where the broker has no times, they count as from
        when `sent_at` says, and those before the first one that is taken have been done by then.
        """

    async def publish(self, topic: str, message: Outgoing) -> None:
        """Returns when the broker has it for good. Raises BusAway, NoTopic: it may have it all the same."""

    async def check(self) -> str:
        """What answers, in a few words. Raises BusAway, BadBus."""

    async def close(self) -> None: ...


def group_of(prefix: str, workflow: str, event: str | None, topic: str) -> str:
    """What the consumer of a workflow is called on every broker: letters, digits, `_` and `-`, and never two alike.

    The topic counts: a consumer cannot be moved to another one.
    """
    digest = blake2b(f"{workflow}\0{event or ''}\0{topic}".encode(), digest_size=5).hexdigest()
    named = "-".join(part for part in (prefix, workflow, event) if part)
    return f"{_UNSAFE.sub('_', named)[:80]}-{digest}"
