"""Schedules, previews and backfills on the wire."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

Time = Annotated[str, Meta(min_length=1, max_length=64)]


class BackfillState(Struct):
    """How far the last backfill is; `there` had made their run before. Its runs have `label` as `penstock.backfill`."""

    start: str = field(name="from")
    end: str = field(name="to")
    count: int
    made: int
    there: int
    failed: int
    state: str
    label: str
    error: str | None


class ScheduleLine(Struct):
    """A workflow that a clock starts: when it comes next, how far it is, and what is wrong.

    `state` is started, stopped, paused, waiting (`waiting` is the tick that waits for room) or failing.
    """

    workflow: str
    version: int
    kind: str
    schedule: str
    cron: str | None
    every: str | None
    tz: str
    overrun: str | None
    catch_up: str | None
    max_running: int | None
    state: str
    next: list[str]
    last_tick: str | None
    last_run: str | None
    waiting: str | None
    skipped: int
    progress: Any
    error: str | None
    error_at: str | None
    backfill: BackfillState | None


class SourceLine(Struct):
    """Something that is fed. `what` is source, external (then `event` says which) or backfill.

    `state` is fed, idle or failing; `failures` counts those in a row, and `hint` says what to do about them.
    """

    workflow: str
    what: str
    event: str | None
    kind: str
    state: str
    node: str | None
    progress: Any
    error: str | None
    error_at: str | None
    failures: int
    hint: str | None


class PreviewSchedule(Struct, forbid_unknown_fields=True, kw_only=True):
    """A schedule that is not saved yet: either `cron` or `every`."""

    cron: Annotated[str, Meta(max_length=256)] | None = None
    every: Annotated[str, Meta(max_length=64)] | int | float | None = None
    tz: Annotated[str, Meta(max_length=256)] | None = None
    count: Annotated[int, Meta(ge=1, le=100)] = 5


class Ticks(Struct):
    """A schedule in words, and its next ticks."""

    schedule: str
    tz: str
    next: list[str]


class AskBackfill(Struct, forbid_unknown_fields=True, kw_only=True):
    """From when to when, both included: a day, or a time; what has no zone is of the schedule's zone."""

    since: Time = field(name="from")
    until: Time = field(name="to")
    dry_run: bool = False


class Backfilled(Struct):
    """How many ticks there are; `label` is that of the runs, none where nothing is done."""

    workflow: str
    start: str = field(name="from")
    end: str = field(name="to")
    count: int
    label: str | None
    dry_run: bool


class Called(Struct):
    """Whether there was something to cancel."""

    canceled: bool
