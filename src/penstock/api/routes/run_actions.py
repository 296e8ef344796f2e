"""Acting on runs: cancel, hold, mend, run again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.api.call import Calls, RequestContext
from penstock.api.wire.runs import Run, SetStep
from penstock.runtime.commands.verbs import VERBS, Verb

calls = Calls("runs")


def serve(calls: Calls, verb: Verb) -> None:
    """Put one of the verbs among the calls."""

    async def act(ask: RequestContext[Any, None]) -> Any:
        run = await ask.may_run(verb.right)
        path = {name: value for name, value in ask.path.items() if name != "id"}
        return await verb.act(ask.engine, run, **path, **({} if ask.body is None else asdict(ask.body)))

    act.__name__, act.__doc__ = verb.operation, verb.summary
    takes = {} if verb.takes is None else {"takes": verb.takes, "empty": True}
    calls.post(verb.path, verb.right, gives=Run, status=201 if verb.makes_run else 200, **takes)(act)


for name in ("cancel", "pause", "resume", "retry", "rerun"):
    serve(calls, VERBS[name])


@calls.post("/api/runs/{id}/steps/{step}", "operate", takes=SetStep, gives=Run)
async def set_step(ask: RequestContext[SetStep, None]) -> Any:
    """Let a step of this run end at once without its task, or work again."""
    run, disabled = await ask.may_run("operate"), ask.body.disabled
    port = disabled if isinstance(disabled, str) else "done" if disabled else None
    return await ask.engine.disable(run, ask.path["step"], port)
