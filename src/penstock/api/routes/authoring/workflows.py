"""Workflows: listed, started, stopped, held."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page, page
from penstock.api.wire.workflows import Halted, WorkflowLine, WorkflowQuery, WorkflowState

calls = Calls("workflows")


@calls.get("/api/workflows", "read", query=WorkflowQuery, gives=Page[WorkflowLine])
async def list_workflows(context: RequestContext[None, WorkflowQuery]) -> Any:
    """Workflows by name, published or only drafts."""
    limit, after = context.query.limit, context.query.place(str) or ""
    items = await context.engine.drafts.page(
        q=context.query.q, after=after, limit=limit + 1, sees=context.caller.sees
    )
    return page(items, limit, lambda each: each["name"])


async def _state(context: RequestContext[None, None]) -> Any:
    return next(each for each in await context.engine.workflows() if each["name"] == context.path["name"])


@calls.post("/api/workflows/{name}/start", "author", gives=WorkflowState)
async def start_workflow(context: RequestContext[None, None]) -> Any:
    """Let the source of a workflow make runs."""
    context.may("author", context.path["name"])
    await context.engine.start_source(context.path["name"])
    return await _state(context)


@calls.post("/api/workflows/{name}/stop", "author", gives=WorkflowState)
async def stop_workflow(context: RequestContext[None, None]) -> Any:
    """Let the source of a workflow make no more runs; those under way finish."""
    context.may("author", context.path["name"])
    await context.engine.stop_source(context.path["name"])
    return await _state(context)


@calls.post("/api/workflows/{name}/pause", "operate", gives=WorkflowState)
async def pause_workflow(context: RequestContext[None, None]) -> Any:
    """Dispatch nothing new of a workflow; events are kept."""
    context.may("operate", context.path["name"])
    await context.engine.pause_workflow(context.path["name"])
    return await _state(context)


@calls.post("/api/workflows/{name}/resume", "operate", gives=WorkflowState)
async def resume_workflow(context: RequestContext[None, None]) -> Any:
    """Go on where the pause of a workflow held its runs."""
    context.may("operate", context.path["name"])
    await context.engine.resume_workflow(context.path["name"])
    return await _state(context)


@calls.post("/api/pause", "admin", gives=Halted)
async def pause_everything(context: RequestContext[None, None]) -> Any:
    """Dispatch nothing new in the whole installation."""
    await context.engine.pause_workflow(None)
    return Halted(True)


@calls.post("/api/resume", "admin", gives=Halted)
async def resume_everything(context: RequestContext[None, None]) -> Any:
    """Go on where the pause of the installation held runs."""
    await context.engine.resume_workflow(None)
    return Halted(False)
