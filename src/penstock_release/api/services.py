"""`/task-services`."""

from __future__ import annotations

from typing import Any

from penstock.api.extension import Calls, RequestContext
from penstock_release.api import wire
from penstock_release.api.answers import body_of, coordinator_of, matching, page

calls = Calls("task-services")
_BODY: dict[str, Any] = {"takes": wire.TaskServiceIn, "reads": "raw", "gives": wire.TaskService}


@calls.get("/task-services", "read", query=wire.ServiceListing, gives=wire.Results[wire.TaskService])
async def list_task_services(context: RequestContext[None, None]) -> Any:
    """The task services, newest first."""
    return page(context, matching(context, await coordinator_of(context).services.all(), "enabled"))


@calls.post("/task-services", "author", status=201, **_BODY)
async def register_task_service(context: RequestContext[None, None]) -> Any:
    """Register a task service: it must answer at `/status`."""
    return await coordinator_of(context).services.register(await body_of(context))


@calls.get("/task-services/{id}", "read", gives=wire.TaskService)
async def show_task_service(context: RequestContext[None, None]) -> Any:
    """One task service."""
    return (await coordinator_of(context).documents.require(f"services/{context.path['id']}")).data


@calls.patch("/task-services/{id}", "author", **_BODY)
async def patch_task_service(context: RequestContext[None, None]) -> Any:
    """Change some fields of a task service."""
    return await coordinator_of(context).services.change(context.path["id"], await body_of(context))


@calls.put("/task-services/{id}", "author", **_BODY)
async def put_task_service(context: RequestContext[None, None]) -> Any:
    """Change a task service."""
    return await coordinator_of(context).services.change(
        context.path["id"], await body_of(context), partial=False
    )


@calls.delete("/task-services/{id}", "author", status=204)
async def remove_task_service(context: RequestContext[None, None]) -> Any:
    """Remove a task service; releases that it takes part in go on."""
    await coordinator_of(context).services.remove(context.path["id"])


@calls.post("/task-services/health_checks", "operate", gives=wire.Said)
async def check_health(context: RequestContext[None, None]) -> Any:
    """Ask every service how it is, now."""
    count = await coordinator_of(context).services.check_health()
    return {"status": "ok", "message": f"{count} task services checked"}
