"""The part of the engine for applications: permitted calls to other systems, and workflows of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from penstock.boxes.failures import Failing
from penstock.boxes.outbound_call import Answer, Call, send
from penstock.boxes.task_environment import TaskEnvironment
from penstock.engine.services import EngineServices
from penstock.flow.errors import PenstockError

NOWHERE = TaskEnvironment()


class CallFailed(PenstockError):
    """A call that was denied, not answered in time, or not answered at all. `kind` is `egress`, `timeout`, `error` …"""

    code = "call_failed"

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class ApplicationServices:
    """Calls to the outside, and what an application keeps to itself: secrets, workflows."""

    def __init__(self, running: EngineServices) -> None:
        self._running, self._environment = running, running.environment

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> Answer:
        """What a service answers, whatever its status: `status`, `headers`, `body`, `json()`. Raises CallFailed."""
        call = Call(method=method, url=url, headers=dict(headers or {}), body=body, timeout=timeout)
        try:
            return await send(self._environment or NOWHERE, call)
        except Failing as failing:
            raise CallFailed(str(failing), failing.outcome.error.kind) from None

    async def give_secret(
        self,
        name: str,
        makes: Callable[[], Awaitable[str]],
        renew: Callable[[str], None] | None = None,
    ) -> None:
        """Let steps use `{secret: NAME}` with a value that this process makes when it is asked for.

        `renew` is told a value that a service did not accept any more: the next one should be another.
        """

        async def learned() -> str:
            value = await makes()
            self._running.vault.redactor.learn_made(name, value)
            return value

        if self._environment is not None:
            self._environment.own[name] = learned
            if renew is not None:
                self._environment.renewals[name] = renew

    async def give_addresses(self, finds: Callable[[str], Awaitable[str | None]]) -> None:
        """Let `service` steps name a `service`: `finds` tells at each call where that is now; None: at its `url`."""
        if self._environment is not None:
            self._environment.addresses = finds

    async def manage(self, workflow: str, by: str) -> None:
        """From now on only who is `acting_for` this workflow may publish, start and change it and its runs by hand.

        Anybody else is told that it belongs to `by`; so are the tokens under `/custom/<workflow>/`. Reading and
        canceling are free.
        """
        self._running.node.owners[workflow] = by

    async def ask_services_now(self) -> None:
        """Let the `service` steps of this process ask for the state of their tasks now, not at the next time."""
        if self._environment is not None:
            self._environment.hurry()
