"""`service`: drives a remote task service: requests an action, then polls its state until that is final.

After an attempt that was lost it first asks for the state: a service that knows the task is not asked to begin again.
An unavailable or impossible state says nothing about the work: it is requested again, up to `misses` times.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from penstock.boxes.failures import Failing, Unready, Unusable, span_of, wrong
from penstock.boxes.outbound_call import Answer, Call, send
from penstock.boxes.states import States, spelled
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Done, Outcome, Parked
from penstock.workers.context import Context

GET_STATUS = "get_status"
STATUS_UNSUPPORTED = (405, 501)
"""Repeated answers to `get_status` of a service that only reports by itself."""
CANCEL_TOO_LATE = (404, 409, 410)
"""Answers to a cancel that comes too late: the service may have finished."""
BUSY = 503
"""With it, and with 400 to 499, a service refuses; other codes may be those of something in between."""
MAX_BAD_ANSWERS = 3
"""Answers in a row that say it has forgotten the action, or only reports, before that counts: one may be a slip."""

PREPARATION_RETRY_DELAY = timedelta(milliseconds=500)
"""Between two attempts to prepare a call."""


async def drive_service(environment: TaskEnvironment, ctx: Context, **params: Any) -> Outcome:
    """One attempt of a `service` step. Raises Failing."""
    return await _Driver(environment, ctx, params, States.of(params)).run()


def _map(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = params.get(name) or {}
    if not isinstance(found, Mapping):
        raise wrong(f"`{name}` of a `service` step must be a map, such as {{task_id: TA_1}}")
    return dict(found)


def outcome_of(
    states: States, state: str | None, body: Any, params: Mapping[str, Any] | None = None
) -> Outcome | None:
    """The outcome of a reported state; None if the work continues."""
    port = states.port(state)
    if port is None:
        return None
    if port == "failed":
        return _said(f"the service says that it is {state}", spelled(str(state)), body).outcome
    patch = (params or {}).get("set") if port == "done" else None
    return Done(port=port, output=body, set=dict(patch) if isinstance(patch, Mapping) else None)


def _said(message: str, state: str, answer: Any) -> Failing:
    """A failure of which the service itself knows: `said` is its word; what only we hold for one has none."""
    return Failing(message, retry=False, detail={"said": state, "answer": answer})


class _Withdrawn(Failing):
    """The attempt is no longer wanted."""


class _Driver:
    """One attempt with what it needs."""

    def __init__(
        self, environment: TaskEnvironment, ctx: Context, params: Mapping[str, Any], states: States
    ) -> None:
        self._environment, self._ctx, self._params, self._states = environment, ctx, params, states
        self._timeout = span_of(params.get("request_timeout", "30s"), "request_timeout")
        self._body, self._args = (_map(params, name) for name in ("body", "args"))
        self._action = str(params.get("action", "start"))
        self._forgotten, self._asked = 0, ctx.again
        self._unasked: int | None = 0  # answers that it only reports; None: it has told its state
        if not isinstance(params.get("url"), str):
            raise wrong("`service` needs `url`: where its tasks are, such as https://s.example/tasks")

    async def run(self) -> Outcome:
        """The end of the attempt, whose calls are then over."""
        if self._params.get("key") is None or self._params.get("turn") is not None:
            return await self._run()
        with self._environment.calling(self._params["key"]):
            return await self._run()

    async def _run(self) -> Outcome:
        if self._action == GET_STATUS:
            return await self._watch(at_once=True)
        asks_first = self._ctx.again or self._params.get("ask_first") is True
        known = body = await self._asked_before() if asks_first else None
        if known is None or not self._counts(known):
            body = await self._ask()
            if known is not None and isinstance(body, dict):
                body = {**body, "before": self._states.read(known)[0]}
        ended = self._ended(body)
        return ended if ended is not None else await self._watch()

    async def _watch(self, at_once: bool = False) -> Outcome:
        """Ask for the state until it is an end, or leave that to the service."""
        poll = self._params.get("poll", "5s")
        every = timedelta(0) if poll == "never" else span_of(poll, "poll")
        if at_once and (found := await self._look(every)) is not None:
            return found
        if poll == "never":
            return Parked(waits="report")
        while True:
            await self._environment.pause(every)
            found = await self._look(every)
            if found is None and self._forgotten >= MAX_BAD_ANSWERS:
                self._forgotten = 0
                found = self._ended(await self._ask())
            if found is not None:
                return found

    async def _ask(self) -> Any:
        """Ask for the action. Raises Failing where it is not accepted."""
        again, self._asked = self._asked, True
        try:
            answer = await self._send(self._action)
        except Unusable as failing:
            return self._unclear(failing)
        codes, states = self._accepted()
        if answer.status not in codes if codes else not 200 <= answer.status < 300:
            known = await self._over_before(answer.status)
            return known if known is not None else self._not_taken(answer, again)
        body = self._answer_body(answer)
        state, _ = self._states.read(body)
        if states and state is not None and spelled(state) not in states and not self._states.broken(state):
            return self._unclear(answer.bad(f"the state {state}, which is not accepted"))
        return body

    def _not_taken(self, answer: Answer, again: bool) -> None:
        """A refusal says nothing of what was asked before: that may be why, and be under way. Raises Failing."""
        failing = self._refused(answer)
        refuses = 400 <= answer.status < 500  # what is neither that nor 5xx is of something in between
        if failing.outcome.retry or (refuses and not again):
            raise failing
        self._unclear(failing)

    def _unclear(self, failing: Failing) -> None:
        """It may have been taken: what came of it is asked for, where it could be asked again. Raises Failing."""
        if not self._named("ask_again"):
            raise failing
        self._ctx.heartbeat({**(self._ctx.progress or {}), "missed": str(failing)})

    def _refused(self, answer: Answer) -> Failing:
        """What an answer that does not accept the action comes to."""
        word = self._params.get("refusal")
        if isinstance(word, str) and (400 <= answer.status < 500 or answer.status == BUSY):
            return _said(str(answer.refused()), word, {"status": answer.status, "body": answer.shown()})
        return answer.refused()

    def _answer_body(self, answer: Answer) -> Any:
        """What an accepted answer says; where any answer will do, one that says nothing will do too."""
        try:
            return answer.json(typed=False) if answer.body else None
        except Failing as failing:
            return None if self._states.any else self._unclear(failing)

    def _counts(self, known: Any) -> bool:
        """Whether the service still knows an earlier attempt, so no new request is needed."""
        if self._params.get("known") is None:
            return True
        state, _ = self._states.read(known)
        return state is not None and spelled(state) in self._named("known")

    def _named(self, parameter: str) -> list[str]:
        return [spelled(str(each)) for each in self._params.get(parameter) or ()]

    def _accepted(self) -> tuple[list[int], list[str]]:
        accept = self._params.get("accept") or []
        states = [spelled(each) for each in accept if isinstance(each, str)]
        return [each for each in accept if isinstance(each, int)], states

    async def _over_before(self, status: int) -> Any:
        """What a service says of a task that it cannot cancel any more; None: nothing that counts."""
        if status not in CANCEL_TOO_LATE or self._params.get("turn") is None:
            return None
        known = await self._asked_before()
        return known if known is not None and self._counts(known) else None

    async def _asked_before(self) -> Any:
        """What the service reports about a task that an earlier attempt began; None if it does not know it."""
        try:
            answer = await self._send(GET_STATUS)
            return answer.json(typed=False) if 200 <= answer.status < 300 and answer.body else None
        except Failing:
            return None

    async def _look(self, every: timedelta) -> Outcome | None:
        """The outcome of its state; None if it still works. Raises Failing after too many misses in a row."""
        left, patient = int(self._params.get("misses", 0)), self._params.get("patient") is True
        while True:
            try:
                return await self._seen()
            except _Withdrawn:
                raise
            except Failing as failing:
                left -= not (patient and failing.outcome.retry)
                if left < 0:
                    raise
                self._ctx.heartbeat({**(self._ctx.progress or {}), "missed": str(failing)})
            await self._environment.pause(every)

    async def _seen(self) -> Outcome | None:
        """The same, asked once. Raises Failing if its state is unavailable or impossible."""
        answer = await self._send(GET_STATUS)
        if answer.status in STATUS_UNSUPPORTED and self._unasked is not None:
            self._unasked += 1
            return Parked(waits="report") if self._unasked >= MAX_BAD_ANSWERS else None
        if not 200 <= answer.status < 300:
            raise answer.refused()
        body = answer.json(typed=False)
        self._unasked = None
        state, _ = self._states.read(body)
        if self._states.strange(state):
            raise answer.bad("a state that cannot be now")
        forgets = state is not None and spelled(state) in self._named("ask_again")
        self._forgotten = self._forgotten + 1 if forgets else 0
        return self._ended(body)

    def _ended(self, body: Any) -> Outcome | None:
        state, progress = self._states.read(body)
        told = {key: value for key, value in (("state", state), ("progress", progress)) if value is not None}
        if told:
            self._ctx.heartbeat(told)
        return outcome_of(self._states, state, body, self._params)

    async def _send(self, action: str) -> Answer:
        """The answer; while a call cannot be made for want of our own, such as the database, that is waited for.

        It says nothing of the service; the time of the step, or of the run, bounds it.
        """
        args = self._args if action != GET_STATUS else {}
        body = msgspec.json.encode({"action": action, **self._body, **args})
        turn = self._params.get("turn", self._params.get("key"))
        while True:
            try:
                await self._announce()
                return await self._environment.in_turn(turn, lambda: self._once(body, action == GET_STATUS))
            except PenstockError:
                pass  # the database is unavailable, or this engine is closing: nothing can be reported
            except Unready as why:
                self._ctx.heartbeat({**(self._ctx.progress or {}), "waits": str(why)})
            await self._environment.pause(
                PREPARATION_RETRY_DELAY
            )  # not in the turn, where who cancels would wait for it too

    async def _announce(self) -> None:
        """What has a `turn` waits for calls of other nodes, what has only a `key` tells them that it calls."""
        call_order, turn, key = (
            self._environment.parts.call_order,
            self._params.get("turn"),
            self._params.get("key"),
        )
        if call_order is None:
            return
        if turn is not None:
            await call_order.others_over(str(turn))
        elif key is not None and not await call_order.begin(str(key), self._timeout, self._ctx.place):
            raise _Withdrawn("the step was withdrawn before the service was called")

    async def _once(self, body: bytes, repeatable: bool) -> Answer:
        """One call; where the service does not accept a secret that this process makes, another with a new one."""
        answer = await send(self._environment, await self._call(body, repeatable))
        if answer.status == 401 and self._environment.renew(self._ctx, answer.call.headers):
            answer = await send(self._environment, await self._call(body, repeatable))
        return answer

    async def _call(self, body: bytes, repeatable: bool) -> Call:
        # Each time: a token may end while a service works, and a service may move.
        own = await self._environment.revealed_in(self._ctx, self._params, "headers")
        headers = {"Content-Type": "application/json", **{name: str(value) for name, value in own.items()}}
        url, timeout = await self._address(), self._timeout
        return Call(
            method="POST", url=url, headers=headers, body=body, timeout=timeout, repeatable=repeatable
        )

    async def _address(self) -> str:
        """Where it is now: a service may move while it works."""
        name, finds = self._params.get("service"), self._environment.addresses
        found = None if name is None or finds is None else await finds(str(name))
        return found or str(self._params["url"])
