"""`/tasks`: the parts of services in releases, and what services say of them."""

from __future__ import annotations

from typing import Any

from penstock.api.extension import Calls, RequestContext, limit_rate
from penstock_release.api import wire
from penstock_release.api.answers import body_of, coordinator_of, matching, page, task_view
from penstock_release.errors import invalid

calls = Calls("release-tasks")
OPEN = ("report_task", "put_report", "show_release_task", "show_release")
"""Calls that need no sign-in where the operator says so."""
SMALL = 16 * 1024
"""Bytes of a report from anybody: reading a large one takes time that belongs to others."""
_BODY: dict[str, Any] = {
    "takes": wire.TaskReport,
    "reads": "raw",
    "gives": wire.ReleaseTask,
    "recorded": False,
}


@calls.get("/tasks", "read", query=wire.TaskListing, gives=wire.Results[wire.ReleaseTask])
async def list_release_tasks(context: RequestContext[None, None]) -> Any:
    """The tasks of all releases, newest first."""
    here = coordinator_of(context)
    await here.releases.catch_up()
    found = await here.documents.newest("tasks/")
    return page(context, matching(context, found, "release", "task_service", "state"), task_view)


@calls.get("/tasks/{id}", "read", gives=wire.ReleaseTask)
async def show_release_task(context: RequestContext[None, None]) -> Any:
    """One task."""
    here = coordinator_of(context)
    whole = await here.releases.fresh(await here.reports.release_of(context.path["id"]))
    return task_view(context, whole.task(context.path["id"]).data)


async def _report(context: RequestContext[None, None]) -> Any:
    max_body = None
    if coordinator_of(context).options.open_reports:  # from anybody, so not from anybody without limit
        limit_rate(context, "reports")
        max_body = SMALL
    body = await body_of(context, max_body)
    if not isinstance(body, dict):
        raise invalid("non_field_errors", "Invalid data. Expected a dictionary.")
    here = coordinator_of(context)
    task = await here.reports.take(context.path["id"], body)
    here.wake.set()
    return task_view(context, task)


@calls.patch("/tasks/{id}", "operate", **_BODY)
async def report_task(context: RequestContext[None, None]) -> Any:
    """A service reports the state and progress of its task; a late report changes nothing."""
    return await _report(context)


@calls.put("/tasks/{id}", "operate", **_BODY)
async def put_report(context: RequestContext[None, None]) -> Any:
    """The same, for services that put."""
    return await _report(context)


@calls.post("/tasks/status_checks", "operate", gives=wire.Said)
async def check_release_tasks(context: RequestContext[None, None]) -> Any:
    """Ask the services of all tasks under way for their state, and look at what became of it; now, not later."""
    found = await coordinator_of(context).check_now()
    count = sum(task.data["state"] in ("running", "publishing") for whole in found for task in whole.tasks)
    return {"status": "ok", "message": f"{count} tasks to check"}
