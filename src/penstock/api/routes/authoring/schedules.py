"""Schedules: the list, next ticks, backfills."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.wire.schedules import (
    AskBackfill,
    Backfilled,
    Called,
    PreviewSchedule,
    ScheduleLine,
    SourceLine,
    Ticks,
)

calls = Calls("schedules")


@calls.get("/api/schedules", "read", query=Counted, gives=Page[ScheduleLine])
async def list_schedules(context: RequestContext[None, Counted]) -> Any:
    """Workflows that a clock starts: next ticks, last run, state, what is wrong."""
    found = await context.engine.schedules.all()
    return context.query.cut([each for each in found if context.caller.sees(each["workflow"])])


@calls.get("/api/sources", "read", query=Counted, gives=Page[SourceLine])
async def list_sources(context: RequestContext[None, Counted]) -> Any:
    """What is fed (clocks, searches, folders, topics, backfills): by which node, how far, what is wrong."""
    found = await context.engine.schedules.sources()
    return context.query.cut([each for each in found if context.caller.sees(each["workflow"])])


@calls.post("/api/schedules/preview", "read", takes=PreviewSchedule, gives=Ticks)
async def preview_schedule(context: RequestContext[PreviewSchedule, None]) -> Any:
    """The next ticks of a schedule before it is saved."""
    return await context.engine.schedules.preview(**asdict(context.body))


@calls.post("/api/workflows/{name}/backfill", "operate", takes=AskBackfill, gives=Backfilled)
async def backfill_workflow(context: RequestContext[AskBackfill, None]) -> Any:
    """Have the runs of past ticks made, up to 10,000; those that are there are not made again."""
    return await context.engine.schedules.backfill(context.may_workflow("operate"), **asdict(context.body))


@calls.delete("/api/workflows/{name}/backfill", "operate", gives=Called)
async def cancel_backfill(context: RequestContext[None, None]) -> Any:
    """End a backfill; the runs that it made stay."""
    return Called(await context.engine.schedules.cancel_backfill(context.may_workflow("operate")))
