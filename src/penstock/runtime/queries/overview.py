"""The figures of the home page: what ended when, by workflow, and how soon steps begin.

Ends are counted exactly. How soon steps begin is read from a few runs of each piece of the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from penstock.flow.views.run_view import time_text
from penstock.runtime.errors import Invalid
from penstock.runtime.queries.workflow_stats import DAY, lasted, percentiles
from penstock.store.protocol import RunViews
from penstock.store.rows.change import timed
from penstock.store.rows.rows import Filter, RunCount, RunsByEnd

MAX_WORKFLOWS = 50
"""Workflows whose run durations are shown."""

MAX_RUNS_PER_WORKFLOW = 50
"""Runs of a workflow from which durations are computed."""

SLICES, MAX_RUNS_PER_SLICE = 24, 100
"""Slices of the period, and runs that are read of each."""

SAMPLING_THRESHOLD = 16
"""If a slice has at most this many runs, all are read; otherwise one in 16."""

MAX_ATTEMPTS_PER_RUN = 20
"""Attempts that are read of one run, because it may have tens of thousands."""

BAD_ENDS = frozenset(("failed", "timed_out"))


async def overview_of(
    store: RunViews,
    since: datetime | None = None,
    until: datetime | None = None,
    points: int = 72,
    sees: Callable[[str], bool] = lambda name: True,
) -> dict[str, Any]:
    """Of runs that ended then (the last day, if nothing is said), in so many `points`. Raises Invalid."""
    end = until or await store.now()
    begin = since or end - DAY
    if begin >= end:
        raise Invalid(f"`from` ({time_text(begin)}) must be before `to` ({time_text(end)})")
    width = max((end - begin) / points, timedelta(microseconds=1))
    found = await store.counts(RunsByEnd(begin, end, width))
    seen = [count for count in found if sees(count.workflow)]
    workflows: dict[str, dict[str, Any]] = {}
    for name in sorted({count.workflow for count in seen}):
        mine = [count for count in seen if count.workflow == name]
        workflows[name] = {**_lines(mine, points), "typical": None}
    for name in sorted(workflows, key=lambda each: -sum(workflows[each]["ended"]))[:MAX_WORKFLOWS]:
        workflows[name]["typical"] = await _typical(store, name, begin, end)
    starts, all_starts = await _starts(store, begin, end, sees)
    return {
        "from": time_text(begin),
        "to": time_text(end),
        "seconds": width.total_seconds(),
        **_lines(seen, points),
        "starts": starts,
        "start": all_starts,
        "workflows": workflows,
    }


def _lines(counts: Iterable[RunCount], points: int) -> dict[str, list[int]]:
    ended, failed, succeeded = [0] * points, [0] * points, [0] * points
    for count in counts:
        place = min(count.group, points - 1)
        ended[place] += count.number
        failed[place] += count.number if count.status in BAD_ENDS else 0
        succeeded[place] += count.number if count.status == "succeeded" else 0
    return {"ended": ended, "failed": failed, "succeeded": succeeded}


async def _typical(store: RunViews, workflow: str, begin: datetime, end: datetime) -> float | None:
    """Seconds that a run takes: the median of the latest that started then; if none did, of the latest."""
    good = Filter(workflow=workflow, statuses=("succeeded",), limit=MAX_RUNS_PER_WORKFLOW)
    rows = await store.runs(replace(good, since=begin, until=end)) or await store.runs(good)
    lengths = lasted(rows)
    return lengths["p50"] if lengths else None


async def _starts(
    store: RunViews, begin: datetime, end: datetime, sees: Callable[[str], bool]
) -> tuple[list[dict[str, float] | None], dict[str, float] | None]:
    """How long tasks waited for a worker, in pieces of the time and in all.

    Of a task that is handed over as it is made nothing is kept: a run that succeeded without waiting counts once.
    """
    span = (end - begin) / SLICES
    known: dict[str, int] = {}  # run -> the piece it started in
    at_once: set[str] = set()
    for number in range(SLICES):
        last = end if number == SLICES - 1 else begin + span * (number + 1)
        rows = await store.runs(Filter(since=begin + span * number, until=last, limit=MAX_RUNS_PER_SLICE))
        seen = [row for row in rows if sees(row.workflow)]
        some = seen if len(seen) <= SAMPLING_THRESHOLD else [row for row in seen if timed(row.id)]
        known.update((row.id, number) for row in some)
        at_once.update(row.id for row in some if row.status == "succeeded")
    waits: dict[int, list[float]] = defaultdict(list)
    for timing in await store.timings(list(known), MAX_ATTEMPTS_PER_RUN):
        at_once.discard(timing.run)
        piece = min(SLICES - 1, max(0, (timing.queued_at - begin) // span))
        waits[piece].append((timing.started_at - timing.queued_at).total_seconds())
    for run in at_once:
        waits[known[run]].append(0.0)
    pieces = [percentiles(waits[number]) for number in range(SLICES)]
    return pieces, percentiles(wait for some in waits.values() for wait in some)
