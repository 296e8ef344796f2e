"""Tasks of pinball_daily.yaml. The numbers of a day are made from its date: the same in every attempt."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zlib import crc32
from zoneinfo import ZoneInfo

from penstock import Context, task


@task("pinball.count", task_list="pinball")
def count(ctx: Context, of: str, tick: str, tz: str) -> dict[str, Any]:
    """Count what happened on the day before a tick, by the clock of a zone."""
    day = (datetime.fromisoformat(tick).astimezone(ZoneInfo(tz)) - timedelta(days=1)).date().isoformat()
    return {"of": of, "day": day, "count": crc32(f"{of} {day}".encode()) % 1000}


@task("pinball.report", task_list="pinball")
def report(ctx: Context) -> dict[str, Any]:
    """Join the numbers of both jobs."""
    signups, orders = ctx.input["signups"], ctx.input["orders"]
    return {"day": signups["day"], "signups": signups["count"], "orders": orders["count"]}
