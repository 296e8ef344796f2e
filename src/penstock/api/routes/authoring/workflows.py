"""Workflows: listed, started, stopped, held."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page, page
from penstock.api.wire.workflows import Halted, WorkflowLine, WorkflowQuery, WorkflowState

calls = Calls("workflows")


@calls.get("/api/workflows", "read", query=WorkflowQuery, gives=Page[WorkflowLine])
async def list_workflows(ask: RequestContext[None, WorkflowQuery]) -> Any:
    """Workflows by name, published or only drafts."""
    limit, after = ask.query.limit, ask.query.place(str) or ""
    items = await ask.engine.drafts.page(q=ask.query.q, after=after, limit=limit + 1, sees=ask.caller.sees)
    return page(items, limit, lambda each: each["name"])


async def _state(ask: RequestContext[None, None]) -> Any:
    return next(each for each in await ask.engine.workflows() if each["name"] == ask.path["name"])


@calls.post("/api/workflows/{name}/start", "author", gives=WorkflowState)
async def start_workflow(ask: RequestContext[None, None]) -> Any:
    """Let the source of a workflow make runs."""
    ask.may("author", ask.path["name"])
    await ask.engine.start_source(ask.path["name"])
    return await _state(ask)


@calls.post("/api/workflows/{name}/stop", "author", gives=WorkflowState)
async def stop_workflow(ask: RequestContext[None, None]) -> Any:
    """Let the source of a workflow make no more runs; those under way finish."""
    ask.may("author", ask.path["name"])
    await ask.engine.stop_source(ask.path["name"])
    return await _state(ask)


@calls.post("/api/workflows/{name}/pause", "operate", gives=WorkflowState)
async def pause_workflow(ask: RequestContext[None, None]) -> Any:
    """Dispatch nothing new of a workflow; events are kept."""
    ask.may("operate", ask.path["name"])
    await ask.engine.pause_workflow(ask.path["name"])
    return await _state(ask)


@calls.post("/api/workflows/{name}/resume", "operate", gives=WorkflowState)
async def resume_workflow(ask: RequestContext[None, None]) -> Any:
    """Go on where the pause of a workflow held its runs."""
    ask.may("operate", ask.path["name"])
    await ask.engine.resume_workflow(ask.path["name"])
    return await _state(ask)


@calls.post("/api/pause", "admin", gives=Halted)
async def pause_everything(ask: RequestContext[None, None]) -> Any:
    """Dispatch nothing new in the whole installation."""
    await ask.engine.pause_workflow(None)
    return Halted(True)


@calls.post("/api/resume", "admin", gives=Halted)
async def resume_everything(ask: RequestContext[None, None]) -> Any:
    """Go on where the pause of the installation held runs."""
    await ask.engine.resume_workflow(None)
    return Halted(False)
