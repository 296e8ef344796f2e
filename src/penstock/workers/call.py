"""A workflow as a function: runs in memory, in the caller's thread, and answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from penstock.flow.compile import Flow
from penstock.flow.plan import Attempt
from penstock.flow.run import RunId, Snapshot
from penstock.flow.view import run_view
from penstock.runtime.clock import LoopClock, PacedClock
from penstock.runtime.errors import CallTimedOut, CannotCall
from penstock.runtime.executor import Report
from penstock.runtime.host import Host
from penstock.runtime.ids import new_run_id
from penstock.runtime.play import play_out
from penstock.workers.inline import InlineExecutor
from penstock.workers.loop import LoopExecutor
from penstock.workers.task import Task, missing_tasks

WAITERS = ("wait", "approval", "service", "workflow", "update")
"""Built-in tasks that take their time."""

_Start = Callable[[Host], RunId]


def call_workflow(
    flow: Flow,
    tasks: Mapping[str, Task],
    *,
    input: Any = None,
    subject: str | None = None,
    limit: timedelta = timedelta(seconds=30),
    until: float | None = None,
) -> dict[str, Any]:
    """Run and answer `{status, result, data, tags, steps}`. Raises CannotCall, CallTimedOut, InvalidInput.

    `until` is the end of the limit by `time.monotonic`, where it began before this call.

    The limit is kept between tasks: no step begins after it, and a plain function that runs over it is
    awaited. Where a step has time-outs of its own, tasks run on a loop of this call: `schedule_to_start`,
    `start_to_close`, `schedule_to_close` and the limit are then kept while they run. `heartbeat` is never
    enforced here: the worker is this process.
    """
    reasons = list(_reasons(flow, tasks))
    if reasons:
        raise CannotCall(flow.name, reasons)
    start = partial(Host.start, flow=flow, input=input, subject=subject)
    until = time.monotonic() + limit.total_seconds() if until is None else until
    try:
        if _has_time_outs(flow):
            snapshot = asyncio.run(_on_loop(tasks, start, until))
        else:
            snapshot = _in_place(tasks, start, until)
    except _Late:
        raise CallTimedOut(flow.name, limit) from None
    if snapshot.status == "waiting":
        raise CannotCall(flow.name, ["it waits for events from outside"])
    view = run_view(flow, snapshot)
    return {key: view[key] for key in ("status", "result", "data", "tags", "steps", "error")}


_NONE = (None, None, None)


def _has_time_outs(flow: Flow) -> bool:
    for step in flow.steps.values():
        limits = step.timeouts
        if (limits.schedule_to_start, limits.start_to_close, limits.schedule_to_close) != _NONE:
            return True
    return False


class _Late(Exception):
    """The limit is over."""


class _InPlace(InlineExecutor):
    """Begins nothing after the limit: the caller was told that the call is over."""

    def __init__(self, tasks: Mapping[str, Task], until: float) -> None:
        super().__init__(tasks)
        self._until = until

    def begin(self, attempt: Attempt, report: Report) -> None:
        if time.monotonic() >= self._until:
            raise _Late
        super().begin(attempt, report)


def _in_place(tasks: Mapping[str, Task], start: _Start, until: float) -> Snapshot:
    """In this thread, one task after the other: the fastest way."""
    clock, executor = PacedClock(), _InPlace(tasks, until)
    host = Host(clock, executor, new_run_id)
    end = clock.now() + timedelta(seconds=until - time.monotonic())
    try:
        run = start(host)
        snapshot = play_out(host, clock, run, end)
    finally:
        executor.close()
    if host.hosted(run).moving:
        raise _Late
    return snapshot


class _OnLoop(LoopExecutor):
    """Begins nothing after the limit; a raise would end nothing here but be logged by the loop."""

    def __init__(self, tasks: Mapping[str, Task], until: float) -> None:
        super().__init__(asyncio.get_running_loop(), tasks)
        self._until = until

    def begin(self, attempt: Attempt, report: Report) -> None:
        if time.monotonic() < self._until:
            super().begin(attempt, report)


async def _on_loop(tasks: Mapping[str, Task], start: _Start, until: float) -> Snapshot:
    """With real time-outs: plain functions in threads, which are left behind when they run over."""
    executor = _OnLoop(tasks, until)
    host = Host(LoopClock(asyncio.get_running_loop()), executor, new_run_id)
    over = asyncio.Event()
    try:
        hosted = host.hosted(start(host))
        hosted.watchers.append(lambda _: None if hosted.moving else over.set())
        if hosted.moving:
            await asyncio.wait_for(over.wait(), until - time.monotonic())
        return hosted.snapshot
    except TimeoutError:
        raise _Late from None
    finally:
        executor.close()


def _reasons(flow: Flow, tasks: Mapping[str, Task]) -> Iterator[str]:
    """Each step that cannot run inside a call, and why."""
    missing = missing_tasks(flow, tasks)
    for name, step in flow.steps.items():
        if step.disabled:
            continue
        if step.task in WAITERS and step.task not in tasks:
            yield f"step '{name}' is a `{step.task}`"
        elif step.serialize is not None:
            yield f"step '{name}' has a `serialize` key"
        elif step.task in missing:
            yield f"task '{step.task}' of step '{name}' is not offered in this process"
