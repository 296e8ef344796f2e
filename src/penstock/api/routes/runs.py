"""Runs: started, listed, read."""

from __future__ import annotations

from typing import Any

from penstock.api.ask import Ask, Reply
from penstock.api.call import Calls
from penstock.api.wire.runs import Run, StartRun

calls = Calls("runs")


@calls.post(
    "/api/workflows/{name}/runs",
    "operate",
    takes=StartRun,
    gives=Run,
    status=201,
    statuses=(200,),
    empty=True,
)
async def start_run(ask: Ask[StartRun, None]) -> Any:
    """Start a run; 200 with the first run where its key was seen before."""
    ask.may("operate", ask.path["name"])
    body = ask.body
    id = await ask.engine.start(
        ask.path["name"],
        subject=body.subject,
        input=body.input,
        labels=body.labels,
        idempotency_key=body.idempotency_key,
        version=body.version,
    )
    return Reply(await ask.engine.show(id))


@calls.get("/api/runs/{id}", "read", gives=Run)
async def show_run(ask: Ask[None, None]) -> Any:
    """The run as it is now."""
    run = await ask.engine.show(ask.path["id"])
    ask.may("read", run["workflow"])
    return run
