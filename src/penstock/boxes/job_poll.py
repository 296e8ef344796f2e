"""`http` with `poll`: a function starts a job, and is polled until the state of the job is final.

Where a job is asked about is kept beside the run, so that an attempt after one that was lost goes on asking instead
of beginning the job again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from penstock.boxes.failures import Failing, span_of, wrong
from penstock.boxes.outbound_call import Answer, Call, send
from penstock.boxes.states import States
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.model.retry_policy import Backoff
from penstock.workers.context import Context

JOB_UNKNOWN = (404, 410)
"""Answers of a function that no longer knows the job."""


REGISTRATION_TIMEOUT = 30.0
"""Seconds after its start in which a job may still be unknown to the service."""

MAX_ERROR_INTERVAL = timedelta(minutes=1)
"""Between two polls while none succeeds, unless the service requests another time."""

SILENCE_TIMEOUT = 3600.0
"""Seconds without a good answer after which a step that has no time-out fails."""


class Jobs(Protocol):
    """What an attempt leaves for the next one of the same work, such as where its job is asked about."""

    async def known(self, ctx: Context) -> str | None:
        """What an earlier attempt has left; None: nothing."""

    async def keep(self, ctx: Context, said: str) -> None: ...

    async def forget(self, ctx: Context) -> None: ...


class Unknown(Failing):
    """The function does not know the job."""


class Polling:
    """One attempt of a step that polls: `call` begins the job."""

    def __init__(
        self, environment: TaskEnvironment, ctx: Context, params: Mapping[str, Any], call: Call
    ) -> None:
        self._environment, self._ctx, self._call, self._jobs = environment, ctx, call, environment.parts.jobs
        poll = params["poll"]
        self._said = str(poll.get("url") or "")
        every = span_of(poll.get("every", "5s"), "poll.every")
        if not every:
            raise wrong("`poll.every` must be longer than 0s")
        self._every, self._begun = every.total_seconds(), 0.0
        self._again = Backoff(initial=every, max=max(every, MAX_ERROR_INTERVAL))
        self._states = States.of(
            {"until": poll.get("until", ["done"]), "failed": poll.get("failed", ["failed"])}
        )

    async def known(self) -> Any:
        """What an earlier attempt's job comes to; None: there is none, or nobody knows it. Raises Failing."""
        url = await self._jobs.known(self._ctx) if self._jobs is not None and self._ctx.again else None
        if url is None:
            return None
        try:
            return await self._ask(url, 0)
        except Unknown:
            await self._forget()
            return None

    async def begun(self, answer: Answer) -> Any:
        """What the job that was begun comes to. Its address may be one of the answer. Raises Failing."""
        where = self._said or answer.headers.get("location")
        if not where:
            raise answer.bad("no `Location` to ask about the job at: say it in `poll.url`")
        url = urljoin(self._call.url, where)
        if self._jobs is not None and await self._is_public(url):
            await self._jobs.keep(self._ctx, url)
        self._begun = asyncio.get_running_loop().time()
        return await self._ask(url, self._every)

    async def _is_public(self, url: str) -> bool:
        """Whether an address shows no secret. One that does is not kept: backups would have it."""
        redact = (
            None if self._environment.parts.redaction is None else await self._environment.parts.redaction()
        )
        return redact is None or redact(url) == url

    async def _ask(self, url: str, first: float) -> Any:
        # What opens the function must not be shown to another host.
        same = urlsplit(url)[:2] == urlsplit(self._call.url)[:2]
        headers = {n: v for n, v in self._call.headers.items() if same and n.lower() != "content-type"}
        asking = Call(method="GET", url=url, headers=headers, timeout=self._call.timeout)
        await self._rest(first)
        while True:
            found = (await self._good_answer(asking, new=bool(first))).json()
            state, progress = self._states.read(found)
            self._ctx.heartbeat(progress if progress is not None else state)
            port = self._states.port(state)
            if port is not None:
                await self._forget()
            if port == "done":
                return found
            if port is not None:
                raise Failing(f"{asking.name} says that it is {state}", retry=False, detail=found)
            await self._rest(self._every)

    async def _rest(self, seconds: float) -> None:
        with self._environment.rest():
            await asyncio.sleep(seconds)

    async def _good_answer(self, asking: Call, new: bool) -> Answer:
        """Poll until there is a good answer; the job continues meanwhile. Raises Failing."""
        clock, refused = asyncio.get_running_loop().time, 0
        until = float("inf") if self._ctx.bounded else clock() + SILENCE_TIMEOUT
        while True:
            try:
                answer = await send(self._environment, asking)
                if 200 <= answer.status < 300:
                    return answer
                raise self._refused(answer, new)
            except Failing as failing:
                if not failing.outcome.retry or clock() >= until:
                    raise
                refused += 1
                said = failing.outcome.retry_after
                wait = self._again.delay(refused, self._ctx.idempotency_key) if said is None else said
                self._ctx.log.info("%s; it is asked again", failing)
            await self._rest(min(wait.total_seconds(), until - clock()))

    def _refused(self, answer: Answer, new: bool) -> Failing:
        if answer.status in JOB_UNKNOWN and not new:
            return Unknown(f"{answer.call.name} does not know the job", retry=False)
        if answer.status == 404 and asyncio.get_running_loop().time() < self._begun + REGISTRATION_TIMEOUT:
            return Failing(f"{answer.call.name} does not know the job yet")
        return answer.refused()

    async def _forget(self) -> None:
        if self._jobs is not None:
            await self._jobs.forget(self._ctx)
