"""The list of schedules: what each is, its next ticks, its progress, and what is wrong with it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.values.duration import format_duration, parse_duration
from penstock.flow.values.schedule import (
    SHORTEST,
    Schedule,
    cron_problem,
    in_words,
    next_ticks,
    zone_problem,
)
from penstock.flow.views.run_view import time_text
from penstock.runtime.errors import Invalid
from penstock.runtime.node.node import Node
from penstock.sources.schedules.backfill import Backfill, Job, jobs_of
from penstock.sources.schedules.rules import rules_of
from penstock.sources.schedules.ticks import Progress
from penstock.sources.triggers.lease import Record, read_state, trigger_name
from penstock.sources.triggers.trigger_list import all_records
from penstock.store.rows.rows import WorkflowState

CLOCKS = ("schedule", "search")
SHOWN_TICKS = 5


def read_schedule(cron: str | None, every: Any, tz: str | None) -> Schedule:
    """A schedule that somebody is about to write. Raises Invalid."""
    if (cron is None) == (every is None):
        raise Invalid("a schedule has either `cron` or `every`")
    problem = (None if cron is None else cron_problem(cron)) or (None if tz is None else zone_problem(tz))
    if problem is not None:
        raise Invalid(problem)
    try:
        length = None if every is None else parse_duration(every)
    except ValueError as error:
        raise Invalid(f"`every` {error}") from None
    if length is not None and length < SHORTEST:
        raise Invalid("`every` must be 1s or longer")
    return Schedule(cron=cron, every=length, tz=tz or "UTC")


def preview(schedule: Schedule, now: datetime, count: int) -> dict[str, Any]:
    """The schedule in words, and its next ticks."""
    ticks = next_ticks(schedule, now, count)
    return {"schedule": in_words(schedule), "tz": schedule.tz, "next": [time_text(tick) for tick in ticks]}


async def list_schedules(node: Node) -> list[dict[str, Any]]:
    """Every workflow whose source has a clock, by name."""
    records, jobs = await all_records(node.store), await jobs_of(node.store)
    found = []
    for state in await node.flows.states():
        flow = await node.flows.get(state.name, state.latest)
        source = flow.definition.source
        if source is not None and source.kind in CLOCKS:
            backfill = records.get(trigger_name(state.name, kind="backfill"))
            shown = _backfill_view(backfill, jobs.get(state.name))
            record = records.get(trigger_name(state.name))
            found.append(schedule_view(flow, state, record, node.clock.now()) | {"backfill": shown})
    return found


def schedule_view(flow: Flow, state: WorkflowState, record: Record | None, now: datetime) -> dict[str, Any]:
    """One schedule as the API shows it."""
    definition = flow.definition
    assert definition.source is not None, "only a workflow with a source has a schedule"
    rules, kind = rules_of(definition), definition.source.kind
    clock = rules.schedule
    same = record if record is not None and record.kind == kind else None
    progress = read_state(same.state, Progress) if same is not None and kind == "schedule" else None
    return {
        "workflow": flow.name,
        "version": flow.version,
        "kind": kind,
        "schedule": in_words(clock),
        "cron": clock.cron,
        "every": None if clock.every is None else format_duration(clock.every),
        "tz": clock.tz,
        "overrun": rules.overrun if kind == "schedule" else None,
        "catch_up": rules.catch_up if kind == "schedule" else None,
        "max_running": rules.room,
        "state": _state(state, same, progress),
        "next": [time_text(tick) for tick in next_ticks(clock, now, SHOWN_TICKS)] if state.started else [],
        "last_tick": time_text(progress.ran) if progress else None,
        "last_run": progress.run if progress else None,
        "waiting": time_text(progress.waiting) if progress else None,
        "skipped": progress.skipped if progress else 0,
        "progress": same.state if same is not None and kind != "schedule" else None,
        "error": same.error if same is not None else None,
        "error_at": time_text(same.error_at) if same is not None else None,
    }


def _state(state: WorkflowState, record: Record | None, progress: Progress | None) -> str:
    if not state.started:
        return "stopped"
    if record is not None and record.error is not None:
        return "failing"
    if state.paused or state.halted:
        return "paused"
    return "waiting" if progress is not None and progress.waiting is not None else "started"


def _backfill_view(record: Record | None, job: Job | None) -> dict[str, Any] | None:
    """The progress of the last backfill, `job` if one is active; None if there was none."""
    found = None if record is None else read_state(record.state, Backfill)
    if job is not None and (found is None or found.job.id != job.id):
        found = Backfill(job=job)
    if found is None:
        return None
    return {
        "from": time_text(found.job.first),
        "to": time_text(found.job.last),
        "count": found.job.total,
        "made": found.made,
        "there": found.there,
        "failed": found.failed,
        "state": "done" if found.over else "running" if job is not None else "canceled",
        "label": found.job.id,
        "error": None if record is None else record.error,
    }
