"""Calls of workflows as functions, and trials of drafts: runs in memory of which nothing is stored."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.api.call import Calls, RequestContext
from penstock.api.trial_run import try_draft
from penstock.api.wire.runs import Called, CallWorkflow
from penstock.api.wire.trials import Tried, Try

calls = Calls("calls")


@calls.post(
    "/api/workflows/{name}/call", "operate", takes=CallWorkflow, recorded=False, gives=Called, empty=True
)
async def call_workflow(context: RequestContext[CallWorkflow, None]) -> Any:
    """Run a workflow in memory and answer with its result; 409 names the steps that cannot run that way."""
    return await context.engine.call(context.may_workflow("operate"), **asdict(context.body))


@calls.post("/api/workflows/{name}/try", "author", takes=Try, recorded=False, gives=Tried, empty=True)
async def try_workflow(context: RequestContext[Try, None]) -> Any:
    """Run the draft, or the definition in the body, in memory with stubs or real tasks; the run and its history."""
    workflow = context.may_workflow("author")
    if context.body.real:
        context.may("operate", workflow)
    redact = context.service.access.vault.redaction_in_threads()
    return await try_draft(context.engine.drafts, workflow, context.body, redact)
