"""The schedule reader: handles each tick exactly once, on whichever node."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.values.schedule import Schedule, next_tick, tick_before
from penstock.flow.views.run_view import time_text
from penstock.runtime.errors import Invalid, RunEnded, UnknownRun
from penstock.sources.schedules.rules import (
    MISSED_AFTER,
    ON_TIME_TOLERANCE,
    Rules,
    due_tick,
    rules_of,
    surplus,
    verdict,
)
from penstock.sources.triggers.lease import read_state
from penstock.sources.triggers.trigger import (
    BACKFILL,
    CAPACITY_POLL_INTERVAL,
    Means,
    Start,
    Trigger,
    TriggerTarget,
)
from penstock.store.rows.rows import Filter

KIND = "schedule"
MAX_ACTIVE_RUNS = 1000
"""Active runs that are read."""

log = logging.getLogger("penstock.schedules")


class Progress(Struct, frozen=True, kw_only=True):
    """How far a schedule is: `last` was seen to, `waiting` is held back until there is room."""

    schedule: Schedule
    last: datetime
    waiting: datetime | None = None
    ran: datetime | None = None  # the last tick that made a run, and the run
    run: str | None = None
    skipped: int = 0


def reader_of(target: TriggerTarget, means: Means) -> Clock:
    return Clock(rules_of(target.flow.definition))


class Clock:
    """One schedule. A tick makes at most one run: its key is the tick."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    async def run(self, trigger: Trigger) -> None:
        progress = await self._begin(trigger)
        while not trigger.stopping.is_set():
            now = trigger.now()
            tick = progress.waiting or due_tick(self.rules, progress.last, now)
            if tick is not None:
                progress = await self._see_to(trigger, progress, tick)
                continue
            coming = next_tick(self.rules.schedule, now)
            if coming is None or not await trigger.until(coming):
                return

    async def _begin(self, trigger: Trigger) -> Progress:
        """Continue after the last tick. A new, changed or stopped schedule begins when its source was started."""
        progress = read_state(trigger.state, Progress)
        started, _ = await trigger.source_times()
        if progress is not None and progress.schedule == self.rules.schedule and not trigger.was_stopped:
            # A tick in the future was stored while the clock was wrong: no tick would fire until then.
            ahead = progress.last > trigger.now() + MISSED_AFTER
            if not ahead and (started is None or started <= progress.last):
                return progress
        since = min(await self._since(trigger, started), trigger.now())
        if progress is None:
            progress = Progress(schedule=self.rules.schedule, last=since)
        progress = replace(progress, schedule=self.rules.schedule, last=since, waiting=None)
        return await _saved(trigger, progress)

    async def _since(self, trigger: Trigger, started: datetime | None) -> datetime:
        """When ticks start counting: the time the source started, because no node may have read it since."""
        version = await trigger.node.store.version(trigger.workflow, trigger.flow.version)
        return trigger.now() if started is None or version is None else max(started, version.at)

    async def _see_to(self, trigger: Trigger, progress: Progress, tick: datetime) -> Progress:
        """Start the run of a tick, skip it, or hold it back a little longer."""
        known = await trigger.node.store.start_key(trigger.workflow, f"{KIND}:{tick_text(tick)}")
        if known is not None:  # before it was noted, this node or the one before it went
            return await _saved(trigger, replace(progress, last=tick, waiting=None, ran=tick, run=known[0]))
        live = [row.id for row in await trigger.active_runs(MAX_ACTIVE_RUNS) if BACKFILL not in row.labels]
        late = self.rules.catch_up == "all" and trigger.now() - tick > ON_TIME_TOLERANCE
        what = verdict(self.rules, len(live), await self._newest(trigger), late)
        if what == "wait":
            if progress.waiting is None:
                progress = await _saved(trigger, replace(progress, waiting=tick))
            await trigger.rest(CAPACITY_POLL_INTERVAL)
            return progress
        if what == "skip":
            log.info("a run of '%s' is still active: tick %s is skipped", trigger.workflow, tick_text(tick))
            return await _saved(
                trigger, replace(progress, last=tick, waiting=None, skipped=progress.skipped + 1)
            )
        if what == "abort":
            await _cancel(trigger, surplus(self.rules, live))
        return await self._start(trigger, replace(progress, last=tick, waiting=None), tick)

    async def _newest(self, trigger: Trigger) -> str | None:
        """The status of the newest run; None: there is none, or nobody asks."""
        if self.rules.overrun != "delay_until_success":
            return None
        rows = await trigger.node.store.runs(Filter(workflow=trigger.workflow, limit=MAX_ACTIVE_RUNS))
        return next((row.status for row in rows if BACKFILL not in row.labels), None)

    async def _start(self, trigger: Trigger, progress: Progress, tick: datetime) -> Progress:
        try:
            at = tick_text(tick)
            start = Start(key=at, subject=at, input=input_of(self.rules.schedule, tick), kind=KIND)
            run, _ = await trigger.start(start)
        except Invalid as error:  # the next tick may do better; this one never will
            log.error("tick %s of '%s' made no run: %s", tick_text(tick), trigger.workflow, error)
            return await _saved(trigger, progress, f"tick {tick_text(tick)} made no run: {error}")
        return await _saved(trigger, replace(progress, ran=tick, run=run))


def input_of(schedule: Schedule, tick: datetime) -> dict[str, Any]:
    """What the run of a tick is given: the same on every node."""
    return {
        "scheduled_at": tick_text(tick),
        "previous": time_text(tick_before(schedule, tick)),
        "timezone": schedule.tz,
    }


def tick_text(tick: datetime) -> str:
    return time_text(tick.astimezone(UTC)) or ""


async def _saved(trigger: Trigger, progress: Progress, error: str | None = None) -> Progress:
    await trigger.save(progress, error=error)
    return progress


async def _cancel(trigger: Trigger, runs: list[str]) -> None:
    for run in runs:
        with suppress(RunEnded, UnknownRun):
            await trigger.node.commands.cancel(run, False, "the next tick of its schedule came")
