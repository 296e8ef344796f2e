"""Actions on runs: cancel, pause, repair, rerun."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.api.call import Calls, RequestContext
from penstock.api.wire.runs import Run, SetStep
from penstock.runtime.commands.verbs import VERBS, Verb

calls = Calls("runs")


def serve(calls: Calls, verb: Verb) -> None:
    """Put one of the verbs among the calls."""

    async def act(context: RequestContext[Any, None]) -> Any:
        run = await context.may_run(verb.right)
        path = {name: value for name, value in context.path.items() if name != "id"}
        return await verb.act(
            context.engine, run, **path, **({} if context.body is None else asdict(context.body))
        )

    act.__name__, act.__doc__ = verb.operation, verb.summary
    takes = {} if verb.takes is None else {"takes": verb.takes, "empty": True}
    calls.post(verb.path, verb.right, gives=Run, status=201 if verb.makes_run else 200, **takes)(act)


for verb in VERBS.values():
    if verb.bulk:
        serve(calls, verb)


@calls.post("/api/runs/{id}/steps/{step}", "operate", takes=SetStep, gives=Run)
async def set_step(context: RequestContext[SetStep, None]) -> Any:
    """Let a step of this run end at once without its task, or work again."""
    run, disabled = await context.may_run("operate"), context.body.disabled
    port = disabled if isinstance(disabled, str) else "done" if disabled else None
    return await context.engine.disable(run, context.path["step"], port)
