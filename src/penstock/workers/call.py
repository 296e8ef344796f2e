"""A workflow as a function: runs in memory, in the caller's thread, and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from penstock.flow.compile import Flow
from penstock.flow.view import run_view
from penstock.runtime.clock import PacedClock
from penstock.runtime.errors import CallTimedOut, CannotCall
from penstock.runtime.host import Host
from penstock.runtime.ids import new_run_id
from penstock.runtime.play import play_out
from penstock.workers.inline import InlineExecutor
from penstock.workers.task import Task, missing_tasks

WAITERS = ("wait", "approval", "service", "workflow", "update")
"""Built-in tasks that take their time."""


def call_workflow(
    flow: Flow,
    tasks: Mapping[str, Task],
    *,
    input: Any = None,
    subject: str | None = None,
    limit: timedelta = timedelta(seconds=30),
) -> dict[str, Any]:
    """Run and answer `{status, result, data, tags, steps}`. Raises CannotCall, CallTimedOut, InvalidInput."""
    reasons = list(_reasons(flow, tasks))
    if reasons:
        raise CannotCall(flow.name, reasons)
    clock, executor = PacedClock(), InlineExecutor(tasks)
    host = Host(clock, executor, new_run_id)
    until = clock.now() + limit
    try:
        run = host.start(flow, input=input, subject=subject)
        snapshot = play_out(host, clock, run, until)
    finally:
        executor.close()
    if snapshot.firings and not snapshot.ended:
        raise CallTimedOut(flow.name, limit)
    if snapshot.status == "waiting":
        raise CannotCall(flow.name, ["it waits for events from outside"])
    view = run_view(flow, snapshot)
    return {key: view[key] for key in ("status", "result", "data", "tags", "steps", "error")}


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
