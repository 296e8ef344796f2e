"""Workflows as functions, and drafts tried: runs in memory of which nothing is kept."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.trial_run import try_draft
from penstock.api.wire.runs import Called, CallWorkflow
from penstock.api.wire.trials import Tried, Try

calls = Calls("calls")


@calls.post(
    "/api/workflows/{name}/call", "operate", takes=CallWorkflow, recorded=False, gives=Called, empty=True
)
async def call_workflow(ask: RequestContext[CallWorkflow, None]) -> Any:
    """Run a workflow in memory and answer with its result; 409 names the steps that cannot run that way."""
    ask.may("operate", ask.path["name"])
    body = ask.body
    return await ask.engine.call(
        ask.path["name"], input=body.input, subject=body.subject, timeout=body.timeout, version=body.version
    )


@calls.post("/api/workflows/{name}/try", "author", takes=Try, recorded=False, gives=Tried, empty=True)
async def try_workflow(ask: RequestContext[Try, None]) -> Any:
    """Run the draft, or the definition in the body, in memory with stubs or real tasks; the run and its history."""
    ask.may("author", ask.path["name"])
    if ask.body.real:
        ask.may("operate", ask.path["name"])
    redact = await ask.service.access.vault.redaction()
    return await try_draft(ask.engine.drafts, ask.path["name"], ask.body, redact)
