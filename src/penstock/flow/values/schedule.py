"""Clocks: which ticks a cron line or an interval has. A tick is a moment in UTC; the same question has one answer.

A cron line is read in its time zone, as Debian's cron reads it. At fixed times (neither minute nor hour begins with
`*`) a tick that the change to summer time leaps over comes right after the gap, once, and of an hour that comes twice
the first counts. Other lines go by the time that passes: nothing in the gap, and both of the hours. An interval counts
from the beginning of 1970 in UTC, whatever the zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib import import_module
from itertools import islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

from penstock.flow.model.names import nearest
from penstock.flow.values.duration import format_duration

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
SHORTEST = timedelta(seconds=1)
MAX_LINE = 256
_FIELDS = {
    "MINUTE": "minute (0 to 59)",
    "HOUR": "hour (0 to 23)",
    "DAY": "day of the month (1 to 31, L for the last)",
    "MONTH": "month (1 to 12, or JAN to DEC)",
    "DOW": "day of the week (0 to 7, or SUN to SAT)",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_GUESSES = 50
"""Times of a line that are looked at, backwards, for one that came: the rest was in gaps."""
_ZONE = re.compile(r"[A-Za-z0-9_+-]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,2}")


class Schedule(Struct, frozen=True, kw_only=True):
    """A cron line in a time zone, or an interval: exactly one of them."""

    cron: str | None = None
    every: timedelta | None = None
    tz: str = "UTC"


def cron_problem(line: str) -> str | None:
    """What is wrong with a cron line, a sentence; None: it has ticks."""
    if line.startswith("@"):
        known = ", ".join(ALIASES)
        return None if line in ALIASES else f"`{line[:40]}` is no cron line; of that kind there are {known}."
    parts = line.upper().split()
    if len(parts) != 5 or len(line) > MAX_LINE:
        return (
            f"A cron line has five fields (minute, hour, day, month, day of the week), this one has {len(parts)}; "
            "for seconds write `every: 10s`."
        )
    module = import_module("cronsim.cronsim")
    for part, (field, says) in zip(parts, _FIELDS.items(), strict=True):
        try:
            module.Field[field].parse(part)
        except (module.CronSimError, ValueError, AssertionError):
            return f"`{part[:40]}` is no {says}."
    if not _has_tick(line):
        return f"`{line}` never comes: no such day in these months."
    return None


_OWN = ("localtime", "posixrules", "Factory")
"""Names whose meaning every machine sets for itself: two nodes would tick at two times."""


def zone_problem(name: str) -> str | None:
    """What is wrong with the name of a time zone, a sentence; None: it is known."""
    try:
        if _ZONE.fullmatch(name) and name not in _OWN:
            ZoneInfo(name)
            return None
    except (ValueError, KeyError, OSError):
        pass
    near = nearest(name[:100], _zones()) if len(name) <= 100 else None
    hint = f"did you mean `{near}`?" if near else "write one like Europe/Berlin or UTC."
    return f"There is no time zone `{name[:40]}`; {hint}"


@cache
def _zones() -> frozenset[str]:
    """The names of all zones: to look for them takes a tenth of a second, of everybody's time."""
    return frozenset(available_timezones() - {*_OWN})


def ticks_after(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """Every tick later than `after`, in order, in UTC; it ends where there are none for fifty years."""
    if schedule.every is not None:
        return _intervals(schedule.every, after)
    # A line with fixed times goes by the wall, as Debian's cron; one with `*` by the time that passes.
    minute, hour = ALIASES.get(schedule.cron or "", schedule.cron or "").split()[:2]
    if schedule.tz == "UTC" or not (minute.startswith("*") or hour.startswith("*")):
        return _fixed_ticks(schedule, after)
    return _passing_ticks(schedule, after)


def ticks_between(schedule: Schedule, first: datetime, last: datetime) -> Iterator[datetime]:
    """Every tick from `first` to `last`, both included."""
    return takewhile(lambda tick: tick <= last, ticks_after(schedule, first - timedelta(microseconds=1)))


def next_tick(schedule: Schedule, after: datetime) -> datetime | None:
    return next(ticks_after(schedule, after), None)


def tick_before(schedule: Schedule, before: datetime) -> datetime | None:
    """The last tick earlier than `before`."""
    if schedule.every is not None:
        passed = -((_EPOCH - before) // schedule.every) - 1
        return _EPOCH + passed * schedule.every
    wall = before.astimezone(ZoneInfo(schedule.tz)).replace(tzinfo=None)
    # A little earlier and on from there: by the clock on the wall, a guess may be in an hour that never was
    for guess in islice(_cronsim(schedule, wall, reverse=True), _GUESSES):
        found = None
        for tick in ticks_after(schedule, before - (wall - guess) - timedelta(hours=3)):
            if tick >= before:
                break
            found = tick
        if found is not None:
            return found
    return None


def next_ticks(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    return list(islice(ticks_after(schedule, after), count))


def in_words(schedule: Schedule) -> str:
    """The schedule as a person says it."""
    if schedule.every is not None:
        return f"every {format_duration(schedule.every)}"
    said: str = _cronsim(schedule, _SOME_DAY).explain()
    where = "" if schedule.tz == "UTC" else f" in {schedule.tz}"
    return f"{said[:1].lower()}{said[1:]}{where}"


def _intervals(every: timedelta, after: datetime) -> Iterator[datetime]:
    passed = (after - _EPOCH) // every + 1
    while True:
        try:
            yield _EPOCH + passed * every
        except OverflowError:
            return
        passed += 1


def _fixed_ticks(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    last = after
    for found in _cronsim(schedule, after.astimezone(ZoneInfo(schedule.tz))):
        tick = found.astimezone(UTC)
        # Two times in a gap come right after it, as one tick; the second of two equal hours begins in the first.
        if tick > last:
            yield tick
            last = tick


def _passing_ticks(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """Where clocks change the line is looked at anew: nothing comes in a gap, and an hour that is twice comes twice."""
    zone, seen = ZoneInfo(schedule.tz), after.astimezone(UTC)  # local times would be added up by the wall
    offset = _offset(zone, seen)
    wall = seen + offset
    while True:
        changed = None
        for found in _cronsim(schedule, wall.replace(tzinfo=None)):
            tick = found.replace(tzinfo=UTC) - offset
            if (changed := _next_change(zone, seen, tick)) is not None:
                break
            yield tick
            seen = tick
        if changed is None:
            return
        seen, offset = changed, _offset(zone, changed)
        wall = changed + offset - _SECOND


def _next_change(zone: ZoneInfo, after: datetime, until: datetime) -> datetime | None:
    """The first moment after `after`, up to `until`, from which clocks show another time than by going on."""
    offset, early = _offset(zone, after), after.replace(microsecond=0)
    while early < until:
        late = min(early + _DAY, until)
        if _offset(zone, late) != offset:
            while late - early > _SECOND:
                middle = (early + (late - early) / 2).replace(microsecond=0)
                if _offset(zone, middle) == offset:
                    early = middle
                else:
                    late = middle
            return late
        early = late
    return None


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta(0)


def _cronsim(schedule: Schedule, start: datetime, reverse: bool = False) -> Any:
    line = schedule.cron or ""
    return import_module("cronsim").CronSim(ALIASES.get(line, line), start, reverse)


@lru_cache(maxsize=256)
def _has_tick(line: str) -> bool:
    """Whether it comes within fifty years."""
    module = import_module("cronsim")
    try:
        return next(iter(module.CronSim(line, _SOME_DAY)), None) is not None
    except module.CronSimError:
        return False
