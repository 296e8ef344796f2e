"""Supervision of runs: lists, reasons, repairs, incidents, statistics."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins
from msgspec.structs import asdict

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.routes.run_actions import serve
from penstock.api.wire.supervision import (
    Bulk,
    BulkDone,
    IncidentQuery,
    Marking,
    MarkingQuery,
    OverviewQuery,
    Repair,
    Repaired,
    RunLine,
    RunQuery,
    StatsQuery,
    Why,
    WhyQuery,
)
from penstock.runtime.commands.verbs import VERBS

calls = Calls("runs")


@calls.get("/api/runs", "read", query=RunQuery, gives=Page[RunLine])
async def list_runs(context: RequestContext[None, RunQuery]) -> Any:
    """Runs by any filter, the newest first."""
    said = context.query.said(context.caller.workflows)
    return await context.engine.list_runs(**said)


@calls.get("/api/runs/{id}/why", "read", query=WhyQuery, gives=Why)
async def why_run(context: RequestContext[None, WhyQuery]) -> Any:
    """Why a run, or one step of it, does not go on."""
    return await context.engine.why(await context.may_run("read"), context.query.step)


@calls.get("/api/runs/{id}/marking", "read", query=MarkingQuery, gives=Marking)
async def show_marking(context: RequestContext[None, MarkingQuery]) -> Any:
    """Which events wait in which slots, now or after an entry of the history."""
    return await context.engine.marking(await context.may_run("read"), at=context.query.at)


@calls.patch("/api/runs/{id}/marking", "repair", takes=Repair, gives=Repaired)
async def repair_run(context: RequestContext[Repair, None]) -> Any:
    """Put events into slots or take them out; with `dry_run` say only what would begin."""
    run = await context.may_run("repair")
    return await context.engine.repair(run, **to_builtins(context.body))


for verb in VERBS.values():
    if not verb.bulk:
        serve(calls, verb)


@calls.post("/api/runs/bulk", "operate", takes=Bulk, gives=BulkDone)
async def act_on_runs(context: RequestContext[Bulk, None]) -> Any:
    """Act on every run that fits a filter, up to 10,000; with `dry_run` count them."""
    body = context.body
    more: dict[str, Any] = {"force": True} if body.force and body.action == "cancel" else {}
    said = body.filter.said(context.caller.workflows)
    answer = await context.engine.bulk(body.action, said, dry_run=body.dry_run, **more)
    return asdict(BulkDone(**answer))


@calls.get("/api/incidents", "read", query=IncidentQuery, gives=Page[dict[str, Any]])
async def list_incidents(context: RequestContext[None, IncidentQuery]) -> Any:
    """What waits for a person: failing sources, failed and stalled runs, events set aside or that nobody took."""
    return await context.engine.incidents(**asdict(context.query), workflows=context.caller.workflows)


@calls.get("/api/incidents/stuck", "read", gives=dict[str, Any])
async def list_stuck(context: RequestContext[None, None]) -> Any:
    """Runs that nothing can move, and tasks that no worker takes."""
    return await context.engine.stuck() if context.caller.everywhere else {"runs": [], "tasks": []}


@calls.get("/api/incidents/slow", "read", query=Counted, gives=Page[dict[str, Any]])
async def list_slow(context: RequestContext[None, Counted]) -> Any:
    """Steps of live runs that wait or run for longer than their `warn_after`."""
    found = await context.engine.slow()
    return context.query.cut([each for each in found if context.caller.sees(each["workflow"])])


@calls.get("/api/stats", "read", query=OverviewQuery, gives=dict[str, Any])
async def show_pulse(context: RequestContext[None, OverviewQuery]) -> Any:
    """What ended and failed when, in all and by workflow, and how soon tasks begin."""
    return await context.engine.pulse(**asdict(context.query), sees=context.caller.sees)


@calls.get("/api/workflows/{name}/stats", "read", query=StatsQuery, gives=dict[str, Any])
async def show_stats(context: RequestContext[None, StatsQuery]) -> Any:
    """Counts, rates, and how long each step waits and runs."""
    return await context.engine.stats(context.may_workflow("read"), **asdict(context.query))
