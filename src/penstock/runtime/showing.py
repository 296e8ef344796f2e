"""A run as it is shown: what it says of itself, and which of its tasks a worker has."""

from __future__ import annotations

from typing import Any

from penstock.flow.run import NEVER_FIRED, Snapshot
from penstock.flow.view import run_view
from penstock.runtime.memory import Live
from penstock.store.change import WHOLE
from penstock.store.protocol import Views
from penstock.store.rows import TaskRow


async def show_run(store: Views, live: Live) -> dict[str, Any]:
    """The whole run; a step runs only where a worker has one of its tasks (R12)."""
    view = run_view(live.flow, live.snapshot)
    if any(element.state == "running" for element in live.snapshot.elements.values()):
        mark_waiting(view["steps"], live.snapshot, await store.tasks(live.snapshot.run.id))
    return view


def mark_waiting(steps: dict[str, Any], snapshot: Snapshot, tasks: list[TaskRow]) -> None:
    """Steps whose tasks all wait are `ready`; an attempt that nobody has begun does not count as one."""
    of_firing: dict[int, list[TaskRow]] = {}
    for task in tasks:
        if _wanted(snapshot, task):
            of_firing.setdefault(task.lease.firing, []).append(task)
    for name, shown in steps.items():
        mine = of_firing.get(snapshot.steps.get(name, NEVER_FIRED).latest, [])
        waiting = [task for task in mine if task.worker is None]
        if waiting:
            shown["attempts"] -= len(waiting)
        if waiting and len(waiting) == len(mine) and shown["status"] == "running":
            reason = "pause" if all(task.held for task in waiting) else "no worker"
            shown.update(status="ready", reason=reason)


def _wanted(snapshot: Snapshot, task: TaskRow) -> bool:
    """Whether the task is of the attempt that is shown: the run may have gone on since."""
    index = None if task.lease.index == WHOLE else task.lease.index
    element = snapshot.elements.get((task.lease.firing, index))
    return element is not None and (element.state, element.attempt) == ("running", task.lease.attempt)
