"""The webhooks of `notify`: each message is a call, signed by Standard Webhooks, to permitted hosts only.

A receiver that does not say 2xx is asked again, later and later, for three days; then its messages are set aside.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from penstock.boxes.failures import Failing
from penstock.boxes.outbound_call import Call, send
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.compile.compile import webhook_of
from penstock.flow.errors import PenstockError
from penstock.sources.errors import Unverified
from penstock.sources.hooks.signatures import sign, standard_key
from penstock.topics.bus import Outgoing
from penstock.topics.errors import MessageRefused

RECEIVER_TIMEOUT = timedelta(seconds=20)
"""How long a receiver may take to answer."""
MAX_CONCURRENT_CALLS = 8
"""Calls to one receiver at a time."""
FAILED_RECEIVER_PAUSE = 0.5
"""Seconds without calls to a receiver that failed to take one."""
DELIVERY_TIMEOUT = timedelta(days=3)
GONE = 410


class _Happened(Struct):
    """When the event of a message happened."""

    time: datetime


_happened = msgspec.json.Decoder(_Happened).decode


class NotTaken(PenstockError):
    """A receiver did not take a call: it is asked again, not before it wishes to be."""

    code = "webhook_not_taken"

    def __init__(self, why: str, wait: timedelta | None = None) -> None:
        super().__init__(why)
        self.wait = wait


def shown_address(topic: str) -> str:
    """The address of a webhook for people: without what it asks for, which may be secret."""
    return webhook_of(topic)[0].partition("?")[0]


class Webhooks:
    """Takes messages as a broker would; their topic is the address and the name of the secret."""

    def __init__(self, environment: TaskEnvironment, now: Callable[[], datetime]) -> None:
        self._environment, self._now = environment, now
        self._room: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(MAX_CONCURRENT_CALLS)
        )
        self._down: dict[str, float] = {}

    async def publish(self, topic: str, message: Outgoing) -> None:
        """Returns when the receiver has said 2xx. Raises NotTaken, MessageRefused where it never will."""
        loop = asyncio.get_running_loop()
        async with self._room[topic]:
            # What waited behind a call that failed must not be a storm on one who is in trouble.
            if loop.time() < self._down.get(topic, 0):
                raise NotTaken("it did not take the call before")
            try:
                await self._call(topic, message)
            except NotTaken as error:
                self._down[topic] = loop.time() + FAILED_RECEIVER_PAUSE
                if self._now() - _happened(message.body).time > DELIVERY_TIMEOUT:
                    raise MessageRefused(shown_address(topic), f"for three days {error}") from None
                raise
            self._down.pop(topic, None)

    async def _call(self, topic: str, message: Outgoing) -> None:
        url, secret = webhook_of(topic)
        try:
            stamp = str(int(self._now().timestamp()))
            key = standard_key(await self._environment.secret(secret))
            content = f"{message.id}.{stamp}.".encode() + message.body
            headers = {
                **message.headers,
                "webhook-id": message.id,
                "webhook-timestamp": stamp,
                "webhook-signature": f"v1,{sign(key, content, 'sha256', 'base64')}",
            }
            call = Call(method="POST", url=url, headers=headers, body=message.body, timeout=RECEIVER_TIMEOUT)
            answer = await send(self._environment, call)
        except Unverified:
            raise NotTaken(f"secret '{secret}' is no key of a webhook: it must be base64") from None
        except Failing as failing:
            raise NotTaken(str(failing)) from None
        if answer.status == GONE:
            raise MessageRefused(shown_address(topic), "it answered 410: the receiver no longer wants it")
        if not 200 <= answer.status < 300:
            said = " ".join(answer.shown()[:200].split())
            raise NotTaken(
                f"{call.name} answered {answer.status} {said}".strip(), answer.refused().outcome.retry_after
            )
