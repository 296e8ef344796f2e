"""Runs: started, listed, read."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

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
async def start_run(context: RequestContext[StartRun, None]) -> Any:
    """Start a run; 200 with the first run where its key was seen before."""
    workflow = context.path["name"]
    context.caller.require("operate", workflow)
    id, known = await context.engine.start_once(workflow, **asdict(context.body))
    return Reply({**await context.engine.show(id, own=not known), "duplicate": known}, 200 if known else 201)


@calls.get("/api/runs/{id}", "read", gives=Run)
async def show_run(context: RequestContext[None, None]) -> Any:
    """The run as it is now."""
    return await context.engine.show(await context.may_run("read"))


@calls.get("/api/runs/{id}/history", "read", query=HistoryQuery, gives=Page[Entry])
async def show_history(context: RequestContext[None, HistoryQuery]) -> Any:
    """All that happened to a run, in order, without a gap; a page has fewer entries where they are large."""
    run = await context.may_run("read")
    items, more = await context.engine.history_page(run, after=context.query.begin, limit=context.query.limit)
    return Page(items, write_cursor(items[-1]["seq"]) if more else None)


@calls.get("/api/runs/{id}/logs", "read", query=HistoryQuery, gives=Page[LogLine])
async def show_logs(context: RequestContext[None, HistoryQuery]) -> Any:
    """What the tasks of a run wrote, in order."""
    run, limit = await context.may_run("read"), context.query.limit
    items = await context.engine.logs(run, after=context.query.begin, limit=limit + 1)
    return page(items, limit, lambda each: each["id"])
