"""Acting on runs: cancel, hold, mend, run again."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls
from penstock.api.request_context import RequestContext
from penstock.api.wire.runs import Cancel, Rerun, Retry, Run, SetStep

calls = Calls("runs")


@calls.post("/api/runs/{id}/cancel", "operate", takes=Cancel, gives=Run, empty=True)
async def cancel_run(ask: RequestContext[Cancel, None]) -> Any:
    """Cancel a run; its clean-up steps still run, unless `force`."""
    run = await ask.may_run("operate")
    return await ask.engine.cancel(run, force=ask.body.force, reason=ask.body.reason)


@calls.post("/api/runs/{id}/pause", "operate", gives=Run)
async def pause_run(ask: RequestContext[None, None]) -> Any:
    """Dispatch nothing new of a run."""
    return await ask.engine.pause(await ask.may_run("operate"))


@calls.post("/api/runs/{id}/resume", "operate", gives=Run)
async def resume_run(ask: RequestContext[None, None]) -> Any:
    """Go on where a pause held the run."""
    return await ask.engine.resume(await ask.may_run("operate"))


@calls.post("/api/runs/{id}/retry", "operate", takes=Retry, gives=Run, empty=True)
async def retry_run(ask: RequestContext[Retry, None]) -> Any:
    """Put back what the failed steps of a failed run consumed, and run on."""
    return await ask.engine.retry(await ask.may_run("operate"), ask.body.step)


@calls.post("/api/runs/{id}/rerun", "operate", takes=Rerun, gives=Run, status=201, empty=True)
async def rerun_run(ask: RequestContext[Rerun, None]) -> Any:
    """Start a new run like this one."""
    run, body = await ask.may_run("operate"), ask.body
    again = ask.engine.rerun(run, version=body.version, input=body.input, start_at=body.start_at)
    return await ask.engine.show(await again)


@calls.post("/api/runs/{id}/steps/{step}", "operate", takes=SetStep, gives=Run)
async def set_step(ask: RequestContext[SetStep, None]) -> Any:
    """Let a step of this run end at once without its task, or work again."""
    run, disabled = await ask.may_run("operate"), ask.body.disabled
    port = disabled if isinstance(disabled, str) else "done" if disabled else None
    return await ask.engine.disable(run, ask.path["step"], port)
