"""Workflows: listed, started, stopped, paused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.access.roles import Action
from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page, page
from penstock.api.wire.workflows import Halted, WorkflowLine, WorkflowQuery, WorkflowState
from penstock.engine.engine import Engine

calls = Calls("workflows")


@calls.get("/api/workflows", "read", query=WorkflowQuery, gives=Page[WorkflowLine])
async def list_workflows(context: RequestContext[None, WorkflowQuery]) -> Any:
    """Workflows by name, published or only drafts."""
    limit, after = context.query.limit, context.query.place(str) or ""
    items = await context.engine.drafts.page(
        q=context.query.q, after=after, limit=limit + 1, sees=context.caller.sees
    )
    return page(items, limit, lambda each: each["name"])


def _serve(name: str, right: Action, act: Callable[[Engine, str], Awaitable[None]], summary: str) -> None:
    """Put a switch of one workflow among the calls."""

    async def switch(context: RequestContext[None, None]) -> Any:
        workflow = context.may_workflow(right)
        await act(context.engine, workflow)
        return next(each for each in await context.engine.workflows() if each["name"] == workflow)

    switch.__name__, switch.__doc__ = f"{name}_workflow", summary
    calls.post(f"/api/workflows/{{name}}/{name}", right, gives=WorkflowState)(switch)


_serve("start", "author", Engine.start_source, "Let the source of a workflow make runs.")
_serve(
    "stop",
    "author",
    Engine.stop_source,
    "Stop a workflow's source. Active runs finish.",
)
_serve("pause", "operate", Engine.pause_workflow, "Dispatch nothing new of a workflow; events are kept.")
_serve("resume", "operate", Engine.resume_workflow, "Go on where the pause of a workflow held its runs.")


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
