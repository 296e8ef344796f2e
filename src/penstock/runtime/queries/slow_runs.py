"""What is late: steps slower than their `warn_after`, tasks that no worker takes, runs that cannot proceed."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.flow.errors import PenstockError
from penstock.flow.views.run_view import time_text
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.queries.why import Facts, warn_after
from penstock.store.protocol import TaskViews
from penstock.store.rows.rows import OldTask

MAX_TASKS = 2_000
"""Tasks that are checked: those that were queued first."""


async def list_slow(store: TaskViews, flows: FlowCache) -> list[dict[str, Any]]:
    """Steps of live runs that wait or run for longer than their `warn_after`, the oldest first."""
    now, found = await store.now(), []
    for task in (await store.backlog(oldest=MAX_TASKS)).oldest:
        limit = await _limit(flows, task)
        if limit is None or now - task.queued_at <= limit:
            continue
        found.append(
            {
                "run": task.run,
                "workflow": task.workflow,
                "version": task.version,
                "step": task.step,
                "since": time_text(task.queued_at),
                "seconds": round((now - task.queued_at).total_seconds(), 3),
                "warn_after": limit.total_seconds(),
                "worker": task.worker,
            }
        )
    return found


async def _limit(flows: FlowCache, task: OldTask) -> Any:
    try:
        flow = await flows.get(task.workflow, task.version)
    except PenstockError:
        return None
    return warn_after(flow, task.step) if task.step in flow.steps else None


async def list_stuck(store: TaskViews, limit: int = 100) -> dict[str, Any]:
    """`runs` that are running with nothing that could move them on, and `tasks` that no worker there would take."""
    facts = Facts(now=await store.now(), workers=await store.workers())
    backlog = await store.backlog(stuck=limit)
    waiting = [row for row in backlog.waiting if not facts.serving(row.task_list, row.task)]
    return {
        "runs": backlog.stuck,
        "tasks": [
            {
                **asdict(row),
                "oldest": time_text(row.oldest),
                "text": _waits(row.count, row.task, row.task_list),
            }
            for row in waiting
        ],
    }


def _waits(count: int, task: str, task_list: str) -> str:
    if count == 1:
        return f"1 task '{task}' waits on list '{task_list}', and no worker takes it."
    return f"{count} tasks '{task}' wait on list '{task_list}', and no worker takes them."
