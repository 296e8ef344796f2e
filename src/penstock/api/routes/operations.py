"""What operators see: task lists and workers."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.wire.operations import Queue, Settings, SettingSeen, WorkerSeen

calls = Calls("operations")


@calls.get("/api/settings", "admin", gives=Settings)
async def show_settings(context: RequestContext[None, None]) -> Settings:
    """What is in force here and who says so, without what is secret."""
    service, workflows = context.service, await context.service.store.workflows()
    facts = await service.store.facts()
    seen = [SettingSeen(**each) for each in service.settings]
    paused = any(each.halted for each in workflows)
    return Settings(version("penstock"), service.open, paused, facts, seen)


@calls.get("/api/queues", "read", everywhere=True, query=Counted, gives=Page[Queue])
async def list_queues(context: RequestContext[None, Counted]) -> Page[Any]:
    """The task lists: what waits, is held, is under way, and since when the oldest waits."""
    return context.query.cut(await context.engine.queues())


@calls.get("/api/queues/{name}/why", "read", everywhere=True, gives=dict[str, Any])
async def why_queue(context: RequestContext[None, None]) -> Any:
    """Why the tasks of a list do not begin: no worker serves it, all are busy, or they are held."""
    return await context.engine.why_task_list(context.path["name"])


@calls.get("/api/workers", "read", everywhere=True, query=Counted, gives=Page[WorkerSeen])
async def list_workers(context: RequestContext[None, Counted]) -> Page[Any]:
    """The workers that are there."""
    return context.query.cut(await context.engine.workers())
