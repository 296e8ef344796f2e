"""Statistics of a workflow: counts, rates, waiting and running times of steps, by period and version.

Nothing is counted while runs go on. The numbers of runs come from indexes, exactly. What steps did is read from the
histories of all runs, or where there are many of some, spread evenly over the time: then counts are worked out for all.
How long steps waited for a worker is asked of one run in 16, of which earlier versions kept it, too.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from penstock.flow.model.plan import Entry
from penstock.flow.views.run_view import time_text
from penstock.runtime.codec.decoder import decode_page
from penstock.runtime.errors import Invalid
from penstock.runtime.queries.history import Histories
from penstock.store.rows.change import timed
from penstock.store.rows.rows import Filter, RunCount, RunRow, RunsByVersion

DAY = timedelta(days=1)
SLICES, MAX_RUNS_PER_SLICE = 10, 200
"""Slices of the period, and runs that are read of each."""

MAX_HISTORIES_PER_SLICE = 30
"""Runs of a slice whose histories are read."""

MAX_HISTORIES = SLICES * MAX_HISTORIES_PER_SLICE
"""If there are at most this many runs, the histories of all are read."""

MIN_KNOWN_WAITS = 20
"""If the waiting time of this many runs is known, those without one are left out."""

MAX_HISTORY = 5_000
"""Entries of one history that are read, and attempts of which it is read how long they waited."""


class Spell(Struct):
    """One firing: how long it waited and ran, in seconds."""

    waiting: float
    running: float


class StepFigures(Struct):
    """What was seen of one step."""

    firings: int = 0
    failed: int = 0
    retries: int = 0
    known: list[Spell] = field(default_factory=list)  # with its wait for a worker
    rough: list[Spell] = field(default_factory=list)  # where that wait is part of the running


async def workflow_stats(
    store: Histories,
    workflow: str,
    since: datetime | None = None,
    until: datetime | None = None,
    version: int | None = None,
) -> dict[str, Any]:
    """Of runs that started then (the last day, if nothing is said). Raises Invalid."""
    end = until or await store.now()
    begin = since or end - DAY
    if begin >= end:
        raise Invalid(f"`from` ({time_text(begin)}) must be before `to` ({time_text(end)})")
    known = await store.counts(RunsByVersion(workflow, begin, end))
    counts = [count for count in known if version in (None, count.group)]
    total = sum(count.number for count in counts)
    asked = Filter(workflow=workflow, version=version, since=begin, until=end)
    few = total <= MAX_HISTORIES
    sample = await (
        store.runs(replace(asked, limit=MAX_HISTORIES)) if few else _sample(store, asked, begin, end)
    )
    figures = await _figures(store, [row.id for row in sample])
    hours = (end - begin) / timedelta(hours=1)
    return {
        "workflow": workflow,
        "version": version,
        "from": time_text(begin),
        "to": time_text(end),
        "runs": {
            "started": total,
            "per_hour": round(total / hours, 3),
            "statuses": _summed(counts),
            "seconds": lasted(sample),
        },
        "versions": {
            number: _summed(count for count in counts if count.group == number)
            for number in sorted({count.group for count in counts})
        },
        "steps": {name: _shown(each, len(sample), total, hours) for name, each in sorted(figures.items())},
        "sampled": {"runs": len(sample), "of": total},
    }


def _summed(counts: Iterable[RunCount]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for count in sorted(counts, key=lambda one: (one.group, one.status)):
        found[count.status] += count.number
    return dict(found)


async def _sample(store: Histories, asked: Filter, since: datetime, until: datetime) -> list[RunRow]:
    """Runs from all over the time; of each slice first those of which it is known how long they waited."""
    found: list[RunRow] = []
    span = (until - since) / SLICES
    for number in range(SLICES):
        last = until if number == SLICES - 1 else since + span * (number + 1)
        rows = await store.runs(
            replace(asked, since=since + span * number, until=last, limit=MAX_RUNS_PER_SLICE)
        )
        found += sorted(rows, key=lambda row: not timed(row.id))[:MAX_HISTORIES_PER_SLICE]
    return found


async def _figures(store: Histories, runs: Sequence[str]) -> dict[str, StepFigures]:
    waits: dict[tuple[str, int], float] = defaultdict(float)
    for row in await store.timings([run for run in runs if timed(run)], MAX_HISTORY):
        waits[row.run, row.firing] += (row.started_at - row.queued_at).total_seconds()
    figures: dict[str, StepFigures] = defaultdict(StepFigures)
    for first in range(0, len(runs), MAX_HISTORIES_PER_SLICE):
        some = runs[first : first + MAX_HISTORIES_PER_SLICE]
        for run, pages in zip(
            some, await asyncio.gather(*(store.pages(run, 0, MAX_HISTORY) for run in some)), strict=True
        ):
            entries = (entry for page in pages for entry in decode_page(page))
            add_figures(figures, run, entries, waits)
            await asyncio.sleep(0)  # the histories of hundreds of long runs would hold up everybody else
    return dict(figures)


def add_figures(
    figures: dict[str, StepFigures],
    run: str,
    history: Iterable[Entry],
    waits: dict[tuple[str, int], float],
) -> None:
    """What the history of one run says about its steps."""
    came: dict[int, datetime] = {}
    begun: dict[int, tuple[datetime, float]] = {}  # firing -> when, and how long its events had waited
    for entry in history:
        if entry.kind in ("event", "repaired"):
            came[entry.seq] = entry.at
        elif entry.kind == "fired" and entry.step is not None:
            ready = max((came.get(number, entry.at) for number in entry.data["consumed"]), default=entry.at)
            begun[entry.seq] = entry.at, (entry.at - ready).total_seconds()
            figures[entry.step].firings += 1
        elif entry.kind == "attempt" and entry.step is not None:
            figures[entry.step].retries += "retry_at" in (entry.data or {})
        elif entry.kind == "ended" and entry.step is not None and entry.firing in begun:
            since, held = begun.pop(entry.firing)
            waited = waits.get((run, entry.firing), 0.0)
            lasted = (entry.at - since).total_seconds()
            spell = Spell(held + waited, max(0.0, lasted - waited))
            figures[entry.step].failed += entry.port == "failed"
            (figures[entry.step].known if timed(run) else figures[entry.step].rough).append(spell)


def _shown(step: StepFigures, runs: int, total: int, hours: float) -> dict[str, Any]:
    """What was seen in some runs of a step, for all of them."""
    exact = len(step.known) >= MIN_KNOWN_WAITS
    spells = step.known if exact else step.known + step.rough
    rate, times = (step.firings / runs, total / runs) if runs else (0.0, 0.0)
    return {
        "firings": round(step.firings * times),
        "failed": round(step.failed * times),
        "retries": round(step.retries * times),
        "per_run": round(rate, 3),
        "per_hour": round(rate * total / hours, 3),
        "waiting": percentiles([spell.waiting for spell in spells]),
        "running": percentiles([spell.running for spell in spells]),
        "apart": exact,  # whether waiting for a worker is counted as waiting; else as running
    }


def lasted(rows: Iterable[RunRow]) -> dict[str, float] | None:
    """How long runs take: those that succeeded; one that was canceled or failed says nothing about it."""
    return percentiles(
        (row.ended_at - row.started_at).total_seconds()
        for row in rows
        if row.status == "succeeded" and row.ended_at is not None
    )


def percentiles(seconds: Iterable[float]) -> dict[str, float] | None:
    """p50, p90, p95, p99 and the longest, by the nearest rank; None where there is nothing."""
    line = sorted(seconds)
    if not line:
        return None
    found = {f"p{of}": line[max(0, -(-len(line) * of // 100) - 1)] for of in (50, 90, 95, 99)}
    return {name: round(value, 6) for name, value in (found | {"max": line[-1]}).items()}
