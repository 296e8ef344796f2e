"""Backfills: ticks of a past period start their runs now, each once, however often it is requested.

A backfill is a token, so that it goes on wherever a node is left; one a workflow at a time, also where its source is
stopped. Its runs have a label, and are not counted by the schedule itself: its own ticks must not be skipped for them.
"""

from __future__ import annotations

import logging
from datetime import date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.values.schedule import Schedule, ticks_between
from penstock.runtime.errors import Conflict, Invalid
from penstock.sources.schedules.rules import Rules, rules_of
from penstock.sources.schedules.ticks import KIND, input_of, tick_text
from penstock.sources.triggers.lease import read_state
from penstock.sources.triggers.trigger import (
    BACKFILL,
    BACKFILLS,
    CAPACITY_POLL_INTERVAL,
    Means,
    Start,
    Trigger,
    TriggerTarget,
)
from penstock.store.protocol import Tokens
from penstock.store.rows.access import AuditRow
from penstock.store.rows.rows import TokenChange

MAX_TICKS = 10_000
"""Ticks of one backfill."""

MAX_BATCH = 50
log = logging.getLogger("penstock.schedules")

_MOMENT = timedelta(microseconds=1)


class Backfilling(Conflict):
    """A backfill of the workflow is active."""

    code = "backfilling"

    def __init__(self, workflow: str) -> None:
        super().__init__(f"a backfill of '{workflow}' is running: wait until it is done, or cancel it")


class Job(Struct, frozen=True, kw_only=True):
    """What somebody asked for: the ticks from `first` to `last`, both included."""

    id: str
    first: datetime
    last: datetime
    total: int


class Backfill(Struct, frozen=True, kw_only=True):
    """How far a backfill is: `done` is the last tick that was seen to; `there` had made their run before."""

    job: Job
    done: datetime | None = None
    made: int = 0
    there: int = 0
    failed: int = 0
    over: bool = False


def read_range(schedule: Schedule, since: str, until: str, now: datetime) -> tuple[datetime, datetime]:
    """The first and the last moment; a day is the whole day, and what has no zone is of the schedule's zone.

    What lies ahead is left out: those ticks come by themselves. Raises Invalid.
    """
    zone = ZoneInfo(schedule.tz)
    first, last = _bound(since, "from", zone, False), min(_bound(until, "to", zone, True), now)
    if first > last:
        raise Invalid(
            f"there is no past time from {since} to {until}: `from` must be before `to`, and before now"
        )
    return first, last


def count_ticks(schedule: Schedule, first: datetime, last: datetime) -> int:
    """How many ticks there are. Raises Invalid."""
    total = sum(1 for _ in islice(ticks_between(schedule, first, last), MAX_TICKS + 1))
    if total > MAX_TICKS:
        raise Invalid(
            f"there are more than {MAX_TICKS:,} ticks from {tick_text(first)} to {tick_text(last)}: "
            "choose a shorter time"
        )
    return total


async def ask_for(store: Tokens, workflow: str, job: Job, audit: AuditRow | None) -> None:
    """Have a backfill done, durably. Raises Backfilling."""
    change = TokenChange(name=f"{BACKFILLS}{workflow}/", data=msgspec.json.encode(job))
    if isinstance(await store.change_tokens([change], [] if audit is None else [audit]), str):
        raise Backfilling(workflow)


async def call_off(store: Tokens, workflow: str, audit: AuditRow | None = None) -> bool:
    """End a backfill; the runs that it made stay. False: there is none."""
    name = f"{BACKFILLS}{workflow}/"
    for row in await store.tokens(name, "", 1):
        change = TokenChange(name=name, expect=row.version, gone=True)
        return not isinstance(await store.change_tokens([change], [] if audit is None else [audit]), str)
    return False


def reader_of(target: TriggerTarget, means: Means) -> Filling:
    return Filling(rules_of(target.flow.definition))


class Filling:
    """Does one backfill, in order: as many at a time as the schedule lets overlap."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    async def run(self, trigger: Trigger) -> None:
        job = await self._job(trigger)
        if job is None:
            return
        if trigger.source is None or trigger.source.kind != KIND:
            log.warning("'%s' no longer has a schedule: its backfill is given up", trigger.workflow)
            await call_off(trigger.node.store, trigger.workflow)
            return
        progress = read_state(trigger.state, Backfill)
        if progress is None or progress.job.id != job.id:
            progress = Backfill(job=job)
        while not progress.over:
            ticks = await self._next(trigger, progress)
            if ticks is None:
                return
            progress = await self._make(trigger, progress, ticks)
        await call_off(trigger.node.store, trigger.workflow)

    async def _job(self, trigger: Trigger) -> Job | None:
        rows = await trigger.node.store.tokens(f"{BACKFILLS}{trigger.workflow}/", "", 1)
        return msgspec.json.decode(rows[0].data, type=Job) if rows else None

    async def _next(self, trigger: Trigger, progress: Backfill) -> list[datetime] | None:
        """The next ticks, once there is room for them; None: it is to stop."""
        job, room = progress.job, self.rules.room
        first = job.first if progress.done is None else progress.done + _MOMENT
        many = MAX_BATCH
        while (
            room is not None
            and (many := room - len(await trigger.active_runs(room, (BACKFILL, job.id)))) <= 0
        ):
            if not await trigger.rest(CAPACITY_POLL_INTERVAL):
                return None
        ticks = list(islice(ticks_between(self.rules.schedule, first, job.last), min(many, MAX_BATCH)))
        return None if trigger.stopping.is_set() else ticks

    async def _make(self, trigger: Trigger, progress: Backfill, ticks: list[datetime]) -> Backfill:
        starts = [
            Start(
                key=tick_text(tick),
                subject=tick_text(tick),
                input=input_of(self.rules.schedule, tick),
                labels={BACKFILL: progress.job.id},
                kind=KIND,
            )
            for tick in ticks
        ]
        done = await trigger.start_many(starts)
        errors = [each for each in done if isinstance(each, Exception)]
        wrong = next((each for each in errors if not isinstance(each, Invalid)), None)
        if wrong is not None:
            raise wrong  # these are seen to again, and made once
        made = [again for each in done if not isinstance(each, Exception) for again in (each[1],)]
        progress = replace(
            progress,
            done=ticks[-1] if ticks else progress.done,
            made=progress.made + made.count(False),
            there=progress.there + made.count(True),
            failed=progress.failed + len(errors),
            over=not ticks,
        )
        await trigger.save(progress, error=str(errors[0]) if errors else None)
        return progress


async def jobs_of(store: Tokens) -> dict[str, Job]:
    """The active backfills, by workflow."""
    rows = await store.tokens(BACKFILLS, "", 1000)
    return {row.name.removeprefix(BACKFILLS)[:-1]: msgspec.json.decode(row.data, type=Job) for row in rows}


def _bound(text: str, name: str, zone: ZoneInfo, end: bool) -> datetime:
    found = _moment(text, name, zone, end)
    if not 1970 <= found.year < 9000:
        raise Invalid(f"`{name}` '{text[:40]}' is too far away: choose a time from 1970 on")
    return found


def _moment(text: str, name: str, zone: ZoneInfo, end: bool) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        day = min(day, date(9990, 1, 1))  # there must be a day after it
        midnight = datetime.combine(day + timedelta(days=end), time(), zone)
        return midnight - _MOMENT if end else midnight
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(
            f"`{name}` '{text[:40]}' is no time: write 2026-03-02, or 2026-03-02T15:30:00Z"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=zone)
