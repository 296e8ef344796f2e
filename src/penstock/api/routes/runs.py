"""Runs: started, listed, read."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.paging import Page, page
from penstock.api.wire.runs import Entry, HistoryQuery, LogLine, Run, Started, StartRun
from penstock.runtime.queries.cursors import write_cursor

calls = Calls("runs")


@calls.post(
    "/api/workflows/{name}/runs",
    "operate",
    takes=StartRun,
    recorded=False,
    gives=Started,
    status=201,
    statuses=(200,),
    empty=True,
)
async def start_run(ask: RequestContext[StartRun, None]) -> Any:
    """Start a run; 200 with the first run where its key was seen before."""
    ask.may("operate", ask.path["name"])
    body = ask.body
    id, known = await ask.engine.start_once(
        ask.path["name"],
        subject=body.subject,
        input=body.input,
        labels=body.labels,
        idempotency_key=body.idempotency_key,
        version=body.version,
    )
    return Reply({**await ask.engine.show(id, own=not known), "duplicate": known}, 200 if known else 201)


@calls.get("/api/runs/{id}", "read", gives=Run)
async def show_run(ask: RequestContext[None, None]) -> Any:
    """The run as it is now."""
    return await ask.engine.show(await ask.may_run("read"))


@calls.get("/api/runs/{id}/history", "read", query=HistoryQuery, gives=Page[Entry])
async def show_history(ask: RequestContext[None, HistoryQuery]) -> Any:
    """All that happened to a run, in order, without a gap; a page has fewer entries where they are large."""
    run = await ask.may_run("read")
    items, more = await ask.engine.history_page(run, after=ask.query.begin, limit=ask.query.limit)
    return Page(items, write_cursor(items[-1]["seq"]) if more else None)


@calls.get("/api/runs/{id}/logs", "read", query=HistoryQuery, gives=Page[LogLine])
async def show_logs(ask: RequestContext[None, HistoryQuery]) -> Any:
    """What the tasks of a run wrote, in order."""
    run, limit = await ask.may_run("read"), ask.query.limit
    items = await ask.engine.logs(run, after=ask.query.begin, limit=limit + 1)
    return page(items, limit, lambda each: each["id"])
