"""The rules of a schedule: which tick is due, and what it becomes while other runs are active. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from penstock.flow.model.definition import Definition
from penstock.flow.values.duration import parse_duration
from penstock.flow.values.schedule import Schedule, next_tick, tick_before

Overrun = Literal["skip", "start", "abort", "delay", "delay_until_success"]
CatchUp = Literal["none", "latest", "all"]
Verdict = Literal["start", "skip", "wait", "abort"]

MISSED_AFTER = timedelta(minutes=1)
"""A younger tick was not missed: one node may have handed over to another."""

ON_TIME_TOLERANCE = timedelta(seconds=5)
"""A later tick is made up for: it queues with the others and is not skipped."""

_MOMENT = timedelta(microseconds=1)


class Rules(Struct, frozen=True, kw_only=True):
    """A schedule and its rules. `room`: how many runs may be active at a time; None: any number."""

    schedule: Schedule
    overrun: Overrun = "skip"
    catch_up: CatchUp = "latest"
    room: int | None = 1


def schedule_of(options: dict[str, Any]) -> Schedule:
    """The clock of a source of kind `schedule` or `search`, whose keys were checked when they were read."""
    every = options.get("every")
    return Schedule(
        cron=options.get("cron"),
        every=None if every is None else parse_duration(every),
        tz=options.get("tz") or "UTC",
    )


def rules_of(definition: Definition) -> Rules:
    """The rules of a workflow with a schedule; both its own `max_running` and that of the source hold."""
    options = {} if definition.source is None else definition.source.options
    overrun: Overrun = options.get("overrun") or "skip"
    said = [most for most in (options.get("max_running"), definition.max_running) if most is not None]
    return Rules(
        schedule=schedule_of(options),
        overrun=overrun,
        catch_up=options.get("catch_up") or "latest",
        room=min(said) if said else None if overrun == "start" else 1,
    )


def due_tick(rules: Rules, last: datetime, now: datetime) -> datetime | None:
    """The tick to handle now, among those after `last`; None if there is none yet.

    Of several that were missed it is the first, where all are made up for, else the latest; the others are dropped.
    """
    clock = rules.schedule
    tick = next_tick(clock, last) if rules.catch_up == "all" else tick_before(clock, now + _MOMENT)
    if tick is None or not last < tick <= now:
        return None
    return None if rules.catch_up == "none" and now - tick > MISSED_AFTER else tick


def verdict(rules: Rules, live: int, newest: str | None, late: bool) -> Verdict:
    """What a tick becomes while `live` runs are active and the newest run has this status.

    `late`: it is made up for, so that it rather waits than is skipped.
    """
    room = rules.room is None or live < rules.room
    if rules.overrun == "delay_until_success":
        return "start" if room and newest in (None, "succeeded") else "wait"
    if room:
        return "start"
    if rules.overrun == "skip":
        return "wait" if late else "skip"
    return "abort" if rules.overrun == "abort" else "wait"


def surplus(rules: Rules, live: Sequence[str]) -> list[str]:
    """Which active runs, the oldest first, must be cancelled to make room for one more."""
    return list(live[: max(0, len(live) - (rules.room or 1) + 1)])
