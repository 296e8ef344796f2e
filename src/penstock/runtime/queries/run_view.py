"""A run as its readers see it, and which of its tasks a worker has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.flow.model.run import NEVER_FIRED, Snapshot
from penstock.flow.views.run_view import run_view, time_text
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.protocol import TaskViews
from penstock.store.rows.change import WHOLE, NewTask

Placed = tuple[int, int, int, bool, bool]
"""A task: its firing, index and attempt, whether it waits for a worker, and whether a pause holds it."""


async def show_run(store: TaskViews, live: CachedRun, own: bool = False) -> dict[str, Any]:
    """The whole run; a step runs only where a worker has one of its tasks (R12).

    With `own` its tasks are as this node wrote them, where it has not gone on since: who started it need not wait
    for a look into the store.
    """
    view = run_view(live.flow, live.snapshot)
    if any(element.state == "running" for element in live.snapshot.elements.values()):
        first, snapshot = live.first if own else None, live.snapshot
        placed = await _placed(store, snapshot.run.id) if first is None else _made(first)
        _mark_waiting(view["steps"], snapshot, placed)
    return view


async def show_doing(store: TaskViews, live: CachedRun) -> list[dict[str, Any]]:
    """The tasks of a run that a worker has, with what they report."""
    tasks = [task for task in await store.tasks(live.snapshot.run.id) if task.worker is not None]
    return [
        {
            "step": live.snapshot.firings[task.lease.firing].step,
            "index": None if task.lease.index == WHOLE else task.lease.index,
            "attempt": task.lease.attempt,
            "worker": task.worker,
            "since": time_text(task.started_at),
            "progress": None if task.progress is None else msgspec.json.decode(task.progress),
        }
        for task in tasks
        if _wanted(live.snapshot, task.lease.firing, task.lease.index, task.lease.attempt)
        and task.lease.firing in live.snapshot.firings
    ]


async def _placed(store: TaskViews, run: str) -> list[Placed]:
    rows = [(row.lease, row) for row in await store.tasks(run)]
    return [(it.firing, it.index, it.attempt, row.worker is None, row.held) for it, row in rows]


def _made(tasks: Sequence[NewTask]) -> list[Placed]:
    return [(task.firing, task.index, task.attempt, task.worker is None, task.held) for task in tasks]


def _mark_waiting(steps: dict[str, Any], snapshot: Snapshot, tasks: Sequence[Placed]) -> None:
    """Steps whose tasks all wait are `ready`; an attempt that nobody has begun does not count as one."""
    of_firing: dict[int, list[Placed]] = {}
    for task in tasks:
        if _wanted(snapshot, *task[:3]):
            of_firing.setdefault(task[0], []).append(task)
    for name, shown in steps.items():
        mine = of_firing.get(snapshot.steps.get(name, NEVER_FIRED).latest, [])
        held = [task_held for *_, waits, task_held in mine if waits]
        if held:
            shown["attempts"] -= len(held)
        if held and len(held) == len(mine) and shown["status"] == "running":
            shown.update(status="ready", reason="pause" if all(held) else "no worker")


def _wanted(snapshot: Snapshot, firing: int, index: int, attempt: int) -> bool:
    """Whether the task belongs to the attempt shown: the run may have advanced since."""
    element = snapshot.elements.get((firing, None if index == WHOLE else index))
    return element is not None and (element.state, element.attempt) == ("running", attempt)
