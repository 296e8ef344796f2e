"""Schedules: the list, the ticks that one would have, and backfills."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.engine.services import EngineServices
from penstock.flow.views.run_view import time_text
from penstock.runtime.commands.validation import validate_integers, validate_texts
from penstock.runtime.errors import Invalid
from penstock.runtime.node.audit_context import audit_for
from penstock.sources.schedules.backfill import Job, ask_for, call_off, count_ticks, read_range
from penstock.sources.schedules.rules import rules_of
from penstock.sources.schedules.schedule_list import SHOWN_TICKS, list_schedules, preview, read_schedule
from penstock.sources.triggers.trigger_list import list_triggers

MAX_TICKS = 100
"""Ticks that are shown at once."""


class Schedules:
    """The clocks of workflows. It only delegates."""

    def __init__(self, opened: Callable[[], Awaitable[EngineServices]]) -> None:
        self._opened = opened

    async def all(self) -> list[dict[str, Any]]:
        """Every schedule, by workflow: in words, its next ticks, its last run, its state, what is wrong."""
        return await list_schedules((await self._opened()).node)

    async def sources(self) -> list[dict[str, Any]]:
        """All that triggers look after, clocks or not: which node feeds it, how far it is, what is wrong."""
        return await list_triggers((await self._opened()).node)

    async def preview(
        self, *, cron: str | None = None, every: Any = None, tz: str | None = None, count: int = SHOWN_TICKS
    ) -> dict[str, Any]:
        """The next ticks of a schedule that is not saved yet: `{schedule, tz, next}`. Raises Invalid."""
        validate_integers(1, MAX_TICKS, count=count)
        return preview(read_schedule(cron, every, tz), (await self._opened()).node.clock.now(), count)

    async def backfill(
        self, workflow: str, *, since: str, until: str, dry_run: bool = False
    ) -> dict[str, Any]:
        """Have the runs of past ticks made, those that are there already not again: `{workflow, from, to, count, …}`.

        With `dry_run` they are only counted. Raises UnknownWorkflow, Invalid, Backfilling.
        """
        running = await self._opened()
        validate_texts(workflow=workflow, since=since, until=until)
        flow, _ = await running.node.flows.newest(workflow)
        source = flow.definition.source
        if source is None or source.kind != "schedule":
            raise Invalid(
                f"'{workflow}' has no schedule: only a source of kind `schedule` has ticks to make up for"
            )
        schedule, now = rules_of(flow.definition).schedule, running.node.clock.now()
        first, last = read_range(schedule, since, until, now)
        total = count_ticks(schedule, first, last)
        job = Job(id=time_text(now) or "", first=first, last=last, total=total)
        if not dry_run and total:
            await ask_for(running.store, workflow, job, audit_for(workflow))
            running.look()
        shown = {"workflow": workflow, "from": time_text(first), "to": time_text(last), "count": total}
        return {**shown, "label": None if dry_run or not total else job.id, "dry_run": dry_run}

    async def cancel_backfill(self, workflow: str) -> bool:
        """End a backfill; the runs that it made stay. False: there is none. Raises UnknownWorkflow."""
        running = await self._opened()
        await running.node.flows.newest(workflow)
        done = await call_off(running.store, workflow, audit_for(workflow))
        running.look()
        return done
