"""Attempts in virtual time: stubs end when they should, time-outs strike at the right moment."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar

from penstock.flow.compile.compile import APPROVAL
from penstock.flow.model.plan import Attempt, Timer
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import ElementKey, RunId
from penstock.flow.model.run_input import Done, Failed, Outcome, Parked, Reported, TimedOut
from penstock.runtime.decisions.approvals import times_of
from penstock.runtime.errors import Invalid
from penstock.runtime.inmemory.executor import Report
from penstock.runtime.node.clock import VirtualClock
from penstock.testing.stubs import Stub, Stubs, as_stub, returns
from penstock.workers.context import Context
from penstock.workers.execute.task_call import call, call_async, failure
from penstock.workers.task import Task

Key = tuple[RunId, ElementKey]
T = TypeVar("T")


@dataclass
class Try:
    """One attempt as it went. `ended` None: it is under way."""

    step: str
    firing: int
    index: int | None
    number: int
    params: Any
    timeouts: Timeouts
    multiplier: float
    began: datetime
    ended: datetime | None = None
    outcome: str | None = None
    """`returned`, `failed`, `timed out`, `lost`, `parked` or `withdrawn`."""
    port: str | None = None
    output: Any = None
    error: str | None = None

    @property
    def took(self) -> timedelta | None:
        return None if self.ended is None else self.ended - self.began


ASKED = Parked(waits="approval")
End = tuple[timedelta | None, Outcome]
"""How long an attempt takes (None: it never ends by itself) and what it comes to."""


class Player(Protocol):
    """Who plays the tasks of a run."""

    def decide(self, attempt: Attempt, number: int, now: datetime) -> End:
        """The end of the `number`-th try at that step, or item of it, in the run."""


@dataclass
class Cast:
    """Stubs by step, stubs by task, then real functions, also once the stubs are spent; else done at once."""

    steps: Mapping[str, Stubs]
    named: Mapping[str, Stubs]
    tasks: Mapping[str, Task]
    asks: bool = False
    """Whether an approval waits until the test decides it."""

    def decide(self, attempt: Attempt, number: int, now: datetime) -> End:
        stubs = self.steps.get(attempt.step) or self.named.get(attempt.task)
        stub = None if stubs is None else stubs.nth(number)
        if stub is not None:
            return _limited(stub, attempt)
        if self.asks and attempt.task == APPROVAL:
            return None, ASKED
        task = self.tasks.get(attempt.task)
        return timedelta(0), Done(port=usual_port(attempt.ports)) if task is None else _run(task, attempt)


class StubExecutor:
    """Does attempts on a virtual clock. A withdrawn attempt is never reported."""

    def __init__(self, clock: VirtualClock, multiplier: Callable[[RunId, ElementKey], float]) -> None:
        self.players: dict[RunId, Player] = {}
        self.tries: dict[RunId, list[Try]] = {}
        self._clock = clock
        self._multiplier = multiplier
        self.asked: dict[Key, Attempt] = {}
        """The approvals that wait for the test."""
        self._live: dict[Key, Try] = {}
        self._decides: dict[Key, Callable[[Outcome], None]] = {}
        self._counts: dict[tuple[RunId, str, int | None], int] = {}

    def begin(self, attempt: Attempt, report: Report) -> None:
        run, element = attempt.run.id, (attempt.firing, attempt.index)
        now = self._clock.now()
        tried = Try(
            attempt.step,
            attempt.firing,
            attempt.index,
            attempt.attempt,
            attempt.params,
            attempt.timeouts,
            self._multiplier(run, element),
            now,
        )
        self.tries.setdefault(run, []).append(tried)
        self._live[run, element] = tried
        count = (run, attempt.step, attempt.index)
        self._counts[count] = self._counts.get(count, 0) + 1
        takes, outcome = self.players[run].decide(attempt, self._counts[count], now)

        def end(outcome: Outcome = outcome) -> None:
            # A withdrawn attempt may have a successor under the same key: only the one that is live counts.
            if self._live.get((run, element)) is tried:
                del self._live[run, element]
                self.asked.pop((run, element), None)
                _close(tried, outcome, self._clock.now())
                report(Reported(attempt.firing, attempt.index, attempt.attempt, outcome))

        if outcome is ASKED:
            self.asked[run, element] = attempt
            self._decides[run, element] = end
            self._set_times(attempt, tried, report, end)
        # Through the clock even where it takes no time: an end inside `begin` would overtake its own plan.
        if takes is not None:
            self._clock.at(now + takes, end)

    def decide(self, run: RunId, element: ElementKey, outcome: Outcome) -> None:
        """Let an approval that waits end so."""
        self._decides.pop((run, element))(outcome)

    def _set_times(
        self, attempt: Attempt, tried: Try, report: Report, end: Callable[[Outcome], None]
    ) -> None:
        """When the person is late, and is reminded."""
        key = attempt.run.id, (attempt.firing, attempt.index)

        def fire(timer: Timer) -> None:
            if isinstance(timer.input, Reported):
                end(timer.input.outcome)
            elif self._live.get(key) is tried:
                report(timer.input)

        for timer in times_of([attempt], self._clock.now()):
            self._clock.at(timer.due, partial(fire, timer))

    def withdraw(self, run: RunId, element: ElementKey) -> None:
        self.asked.pop((run, element), None)
        tried = self._live.pop((run, element), None)
        if tried is not None:
            tried.ended, tried.outcome = self._clock.now(), "withdrawn"


def usual_port(ports: tuple[str, ...]) -> str:
    """The port of a task of which nothing more is known: `done`, or its first that is no failure."""
    return "done" if "done" in ports else next((port for port in ports if port != "failed"), "failed")


def _limited(stub: Stub, attempt: Attempt) -> End:
    """The stub's own end, or the time-out that strikes before it."""
    takes, outcome = stub.takes, stub.outcome
    if callable(outcome):
        answer = _call_stub(outcome, attempt)
        takes, outcome = takes + answer.takes, answer.outcome
        assert not callable(outcome)
    times = attempt.timeouts
    # Those that any attempt can outlive: a stub starts at once and its heart beats.
    outlived = {"start_to_close": times.start_to_close, "schedule_to_close": times.schedule_to_close}
    limits = {name: limit for name, limit in outlived.items() if limit is not None}
    if isinstance(outcome, TimedOut):
        own = _own_limit(outcome.limit, attempt)
        beating = outcome.limit in ("heartbeat", "lost")
        limits.setdefault(outcome.limit, own + takes if beating else own)
        takes = timedelta.max
    first = min(limits, key=lambda name: limits[name], default=None)
    if first is None or limits[first] >= takes:
        return takes, outcome
    return limits[first], TimedOut(first)


def _own_limit(name: str, attempt: Attempt) -> timedelta:
    """When the injected time-out strikes. Raises Invalid where the step has no such time-out."""
    limit: timedelta | None = getattr(attempt.timeouts, "heartbeat" if name == "lost" else name)
    if limit is None and name == "lost":
        return timedelta(0)
    if limit is None:
        raise Invalid(
            f"step '{attempt.step}' has no `{name}` time-out that could be outlived: "
            f"write `timeouts: {{{name}: 10m}}` in its definition, or use lost()"
        )
    return limit


def _call_stub(function: Callable[..., Any], attempt: Attempt) -> Stub:
    """Call a stub with the context and those parameters that it takes."""
    parameters = inspect.signature(function).parameters.values()
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters)
    names = [each.name for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    given = attempt.params if isinstance(attempt.params, Mapping) else {}
    with_context = bool(names) and names[0] not in given
    wanted = {name: value for name, value in given.items() if open_ended or name in names}
    try:
        answer = function(*([Context(attempt)] if with_context else []), **wanted)
        if inspect.isawaitable(answer):
            answer = _wait(_awaited(answer))
    except Exception as error:
        return Stub(failure(error))
    return returns(answer) if callable(answer) else as_stub(answer)


async def _awaited(answer: Any) -> Any:
    return await answer


def _run(task: Task, attempt: Attempt) -> Outcome:
    context = Context(attempt)
    return _wait(call_async(task, attempt, context)) if task.is_async else call(task, attempt, context)


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also from a test that is itself one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _close(tried: Try, outcome: Outcome, now: datetime) -> None:
    tried.ended = now
    if isinstance(outcome, Done):
        tried.outcome, tried.port, tried.output = "returned", outcome.port, outcome.output
    elif isinstance(outcome, Failed):
        tried.outcome, tried.error = "failed", outcome.error.message
    elif isinstance(outcome, TimedOut):
        tried.outcome = "lost" if outcome.limit == "lost" else "timed out"
        tried.error = None if outcome.limit == "lost" else outcome.limit
    else:
        tried.outcome = "parked"
