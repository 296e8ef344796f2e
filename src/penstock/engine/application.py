"""The part of the engine for applications: calls to others where the installation may, and workflows of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

from penstock.boxes.failing import Failing
from penstock.boxes.sending import Answer, Call, send
from penstock.boxes.world import TaskEnvironment
from penstock.engine.operations import Opening
from penstock.flow.errors import PenstockError
from penstock.runtime.commands.ownership import acting_for

NOWHERE = TaskEnvironment()


class CallFailed(PenstockError):
    """A call that was denied, not answered in time, or not answered at all. `kind` is `egress`, `timeout`, `error` …"""

    code = "call_failed"

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class Calling:
    """Calls to the outside, and what an application keeps to itself: secrets, workflows."""

    async def fetch(
        self: Opening,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> Answer:
        """What a service answers, whatever its status: `status`, `headers`, `body`, `json()`. Raises CallFailed."""
        world = (await self._open()).world or NOWHERE
        call = Call(method=method, url=url, headers=dict(headers or {}), body=body, timeout=timeout)
        try:
            return await send(world, call)
        except Failing as failing:
            raise CallFailed(str(failing), failing.outcome.error.kind) from None

    async def give_secret(
        self: Opening,
        name: str,
        makes: Callable[[], Awaitable[str]],
        renew: Callable[[str], None] | None = None,
    ) -> None:
        """Let steps use `{secret: NAME}` with a value that this process makes when it is asked for.

        `renew` is told a value that a service did not accept any more: the next one should be another.
        """
        running = await self._open()
        world, redactor = running.world, running.vault.redactor

        async def learned() -> str:
            value = await makes()
            redactor.learn_made(name, value)
            return value

        if world is not None:
            world.own[name] = learned
            if renew is not None:
                world.renewals[name] = renew

    async def give_addresses(self: Opening, finds: Callable[[str], Awaitable[str | None]]) -> None:
        """Let `service` steps name a `service`: `finds` tells at each call where that is now; None: at its `url`."""
        world = (await self._open()).world
        if world is not None:
            world.addresses = finds

    async def manage(self: Opening, workflow: str, by: str) -> None:
        """From now on only who is `acting_for` this workflow may publish, start and change it and its runs by hand.

        Anybody else is told that it belongs to `by`; so are the tokens under `/custom/<workflow>/`. Reading and
        canceling are free.
        """
        (await self._open()).node.flows.managers.add(workflow, by)

    def acting_for(self, workflow: str) -> AbstractContextManager[None]:
        """What is done in this block is done by the application that manages the workflow."""
        return acting_for(workflow)

    async def ask_services_now(self: Opening) -> None:
        """Let the `service` steps of this process ask for the state of their tasks now, not at the next time."""
        world = (await self._open()).world
        if world is not None:
            world.hurry()


def json_of(answer: Answer) -> Any:
    """The value of an answer; None where it is not JSON."""
    try:
        return answer.json()
    except Failing:
        return None
