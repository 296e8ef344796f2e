"""A workflow as a function: runs in memory, in the caller's thread, and answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import RunId, Snapshot
from penstock.flow.model.run_input import Reported
from penstock.flow.model.tags import visible
from penstock.flow.views.run_view import failure_view, step_view
from penstock.runtime.call_errors import CallTimedOut, CannotCall
from penstock.runtime.dispatch.redaction import Redact, redacted_outcome
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.inmemory.executor import Report
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import LoopClock, PacedClock
from penstock.runtime.node.ids import new_run_id
from penstock.workers.execute.event_loop import LoopExecutor
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.execute.task_call import Outcome
from penstock.workers.task import Task, missing_tasks

WAITERS = ("wait", "approval", "service", "workflow", "update", "emit")
"""Built-in tasks that take their time, or reach another run through the store."""

MAX_HISTORY = 100_000
"""Entries of history after which a call is given up: all of it is kept in memory, and a loop would fill that."""

LOOK = 0.1
"""Seconds between two looks at how long a call has become."""

_Start = Callable[[InMemoryEngine], RunId]


def call_workflow(
    flow: Flow,
    tasks: Mapping[str, Task],
    *,
    input: Any = None,
    subject: str | None = None,
    limit: timedelta = timedelta(seconds=30),
    until: float | None = None,
    redact: Redact = lambda value: value,
) -> dict[str, Any]:
    """Run and answer `{status, result, data, tags, steps}`. Raises CannotCall, CallTimedOut, InvalidInput.

    `until` is the end of the limit by `time.monotonic`, where it began before this call. `redact` takes secrets out
    of failures before any step can read them.

    The limit is kept between tasks: no step begins after it, and a plain function that runs over it is
    awaited. Where a step has time-outs of its own, tasks run on a loop of this call: `schedule_to_start`,
    `start_to_close`, `schedule_to_close` and the limit are then kept while they run. `heartbeat` is never
    enforced here: the worker is this process.
    """
    plan = _plan(flow, tasks)
    if plan.reasons:
        raise CannotCall(flow.name, plan.reasons)
    start = partial(InMemoryEngine.start, flow=flow, input=input, subject=subject)
    until = time.monotonic() + limit.total_seconds() if until is None else until
    try:
        if plan.timed:
            snapshot = asyncio.run(_on_loop(tasks, start, until, redact))
        else:
            snapshot = _in_place(tasks, start, until, redact)
    except _Late:
        raise CallTimedOut(flow.name, limit) from None
    except _Long:
        raise CannotCall(flow.name, [f"it came to more than {MAX_HISTORY:,} entries of history"]) from None
    if snapshot.status == "waiting":
        raise CannotCall(flow.name, ["it waits for events from outside"])
    return {
        "status": snapshot.status,
        "result": snapshot.result,
        "data": snapshot.data,
        "tags": visible(snapshot.tags),
        "steps": {name: step_view(flow, snapshot, name) for name in flow.steps},
        "error": failure_view(snapshot.error),
    }


class _Plan(Struct, frozen=True):
    """What a call of a flow needs to know of it: worked out once."""

    tasks: Mapping[str, Task]
    count: int  # of the tasks: more may be defined while a program runs
    reasons: list[str]
    timed: bool


_plans: WeakKeyDictionary[Flow, _Plan] = WeakKeyDictionary()


def _plan(flow: Flow, tasks: Mapping[str, Task]) -> _Plan:
    found = _plans.get(flow)
    if found is None or found.tasks is not tasks or found.count != len(tasks):
        limits = (limit for step in flow.steps.values() for limit in step.timeouts.values()[:-1])
        timed = any(limit is not None for limit in limits)
        found = _plans[flow] = _Plan(tasks, len(tasks), list(_reasons(flow, tasks)), timed)
    return found


class _Late(Exception):
    """The limit is over."""


class _Long(Exception):
    """It goes on and on."""


def _validate_history(host: InMemoryEngine) -> None:
    for each in host.runs.values():
        if each.snapshot.seq > MAX_HISTORY and each.moving:
            raise _Long


class _InPlace(InlineExecutor):
    """Begins nothing after the limit: the caller was told that the call is over."""

    def __init__(self, tasks: Mapping[str, Task], until: float, redact: Redact) -> None:
        super().__init__(tasks)
        self._until, self._redact = until, redact
        self.host: InMemoryEngine | None = None

    def outcome(self, attempt: Attempt) -> Outcome:
        if time.monotonic() >= self._until:
            raise _Late
        if self.host is not None:
            _validate_history(self.host)
        return redacted_outcome(super().outcome(attempt), self._redact)


def _in_place(tasks: Mapping[str, Task], start: _Start, until: float, redact: Redact) -> Snapshot:
    """In this thread, one task after the other: the fastest way."""
    clock, executor = PacedClock(), _InPlace(tasks, until, redact)
    executor.host = host = InMemoryEngine(clock, executor, new_run_id)
    host.does = executor.outcome
    end = clock.now() + timedelta(seconds=until - time.monotonic())
    try:
        run = start(host)
        snapshot = play_out(host, clock, run, end, lambda: host.run_of(run).snapshot.seq > MAX_HISTORY)
    finally:
        executor.close()
        executor.host = host.does = None  # else each call would be left to the garbage collector
    if host.run_of(run).moving:
        _validate_history(host)
        raise _Late
    return snapshot


class _OnLoop(LoopExecutor):
    """Begins nothing after the limit; a raise would end nothing here but be logged by the loop."""

    def __init__(self, tasks: Mapping[str, Task], until: float, redact: Redact) -> None:
        super().__init__(asyncio.get_running_loop(), tasks)
        self._until, self._redact = until, redact

    def begin(self, attempt: Attempt, report: Report) -> None:
        def redacted(reported: Reported) -> None:
            report(replace(reported, outcome=redacted_outcome(reported.outcome, self._redact)))

        if time.monotonic() < self._until:
            super().begin(attempt, redacted)


async def _on_loop(tasks: Mapping[str, Task], start: _Start, until: float, redact: Redact) -> Snapshot:
    """With real time-outs: plain functions in threads, which are left behind when they run over."""
    executor = _OnLoop(tasks, until, redact)
    host = InMemoryEngine(LoopClock(asyncio.get_running_loop()), executor, new_run_id)
    over = asyncio.Event()
    try:
        live_run = host.run_of(start(host))
        live_run.watchers.append(lambda _: None if live_run.moving else over.set())
        while live_run.moving and not over.is_set():
            if (left := until - time.monotonic()) <= 0:
                raise _Late
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), min(left, LOOK))
            _validate_history(host)
        return live_run.snapshot
    finally:
        executor.close()


def _reasons(flow: Flow, tasks: Mapping[str, Task]) -> Iterator[str]:
    """Each step that cannot run inside a call, and why."""
    missing = missing_tasks(flow, tasks)
    for name, step in flow.steps.items():
        if step.disabled:
            continue
        if step.task in WAITERS and step.task not in tasks:
            article = "an" if step.task[0] in "aeu" else "a"
            yield f"step '{name}' is {article} `{step.task}`"
        elif step.task == "http" and _is_async(flow, name):
            yield f"step '{name}' is an `http` step that waits for a call or asks again"
        elif step.serialize is not None:
            yield f"step '{name}' has a `serialize` key"
        elif step.task in missing:
            yield f"task '{step.task}' of step '{name}' is not offered in this process"
        if (event := _outside_only(flow, name)) is not None:
            yield f"step '{name}' waits for '{event}', which only comes from outside"


def _is_async(flow: Flow, name: str) -> bool:
    given = flow.definition.steps[name].params or {}
    return given.get("mode", "sync") != "sync" or "poll" in given


def _outside_only(flow: Flow, name: str) -> str | None:
    """An event without which the step never begins, and which nobody inside the workflow fires."""
    outside = {event.name for event in flow.definition.external or () if not event.optional}
    for slot in flow.definition.steps[name].after or ():
        if sum(event not in outside for event in slot.events) < (slot.need or 1):
            return slot.events[0]
    return None
