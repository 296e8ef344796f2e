"""Timestamps and durations: reading, writing, and the fields of a calendar in a time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from penstock.expression.errors import Fault
from penstock.expression.limits import MAX_INT, MIN_INT
from penstock.expression.values import EPOCH, Duration, Timestamp, spoken

SECOND = 1_000_000_000
_FIRST = -62_135_596_800 * SECOND
_LAST = 253_402_300_800 * SECOND - 1
_UNITS = {
    "h": 3600 * SECOND,
    "m": 60 * SECOND,
    "s": SECOND,
    "ms": 10**6,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ns": 1,
}
_DURATION = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?(?:h|ms|us|µs|μs|ns|m|s))+|[+-]?0", re.ASCII)
_DURATION_PART = re.compile(r"([0-9]+)(?:\.([0-9]*))?(h|ms|us|µs|μs|ns|m|s)", re.ASCII)
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)
_OFFSET = re.compile(r"([+-]?)([0-9]{2}):([0-9]{2})", re.ASCII)
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(?:/[A-Za-z0-9_+\-]+){0,3}", re.ASCII)


def checked_timestamp(nanoseconds: int) -> Timestamp:
    """A timestamp within the years 1 to 9999."""
    if _FIRST <= nanoseconds <= _LAST:
        return Timestamp(nanoseconds)
    raise Fault("overflow", "the time lies outside the years 1 to 9999")


def checked_duration(nanoseconds: int) -> Duration:
    """A duration of at most 292 years, either way."""
    if MIN_INT <= nanoseconds <= MAX_INT:
        return Duration(nanoseconds)
    raise Fault("overflow", "the duration is longer than 292 years")


def read_duration(text: str) -> Duration:
    """The duration written as `1h30m`, `1.5s` or `250ms`."""
    if len(text) > 200 or not _DURATION.fullmatch(text):
        raise Fault("bad_value", f"`{text[:40]}` is not a duration such as `1h30m`, `1.5s` or `250ms`")
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(text):
        total += int(whole) * _UNITS[unit]
        if fraction:
            total += int(fraction) * _UNITS[unit] // 10 ** len(fraction)
    return checked_duration(-total if text[0] == "-" else total)


def write_duration(value: int) -> str:
    """A duration in seconds, such as `3.5s`."""
    whole, rest = divmod(abs(value), SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if value < 0 else ''}{whole}{fraction}s"


def read_timestamp(text: str) -> Timestamp:
    """The time written after RFC 3339, such as `2026-01-31T08:00:00Z`."""
    match = _TIMESTAMP.fullmatch(text) if len(text) <= 40 else None
    try:
        if match is None:
            raise ValueError
        *numbers, fraction, zone = match.groups()
        naive = datetime(*map(int, numbers), tzinfo=UTC)  # type: ignore[misc, arg-type]
        offset = timedelta(0) if zone in "Zz" else _offset(zone)
    except (ValueError, OverflowError):
        raise Fault("bad_value", f"`{text[:40]}` is not a time such as `2026-01-31T08:00:00Z`") from None
    since = naive - EPOCH - offset
    nanoseconds = (since.days * 86_400 + since.seconds) * SECOND
    return checked_timestamp(nanoseconds + int((fraction or "0").ljust(9, "0")))


def write_timestamp(value: int) -> str:
    """A time after RFC 3339, in UTC with `Z`."""
    seconds, rest = divmod(value, SECOND)
    moment = EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return moment.replace(tzinfo=None).isoformat() + fraction + "Z"


def _offset(text: str) -> timedelta:
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:
        raise ValueError(text)
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return -offset if match[1] == "-" else offset


def _zone(name: Any) -> tzinfo:
    if name.__class__ is not str:
        raise Fault("no_such_overload", f"a time zone is a string, not {spoken(name)}")
    try:
        if len(name) <= 6 and _OFFSET.fullmatch(name):
            return timezone(_offset(name))
        if len(name) <= 64 and _ZONE.fullmatch(name):
            return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        pass
    raise Fault("bad_value", f"`{name[:40]}` is not a time zone; write `Europe/Berlin` or `+02:00`")


def _local(value: int, zone: Any) -> datetime:
    moment = EPOCH + timedelta(seconds=value // SECOND)
    if zone is None:
        return moment
    try:
        return moment.astimezone(_zone(zone))
    except OverflowError:
        raise Fault("overflow", "the time lies outside the years 1 to 9999 in that zone") from None


_CALENDAR: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}
_SPAN = {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND}
GETTERS = (*_CALENDAR, "getMilliseconds")


def read_field(name: str, value: Any, zone: Any = None) -> int:
    """A field of a time in a zone (UTC where none is given), or of a duration."""
    kind = value.__class__
    if kind is Timestamp:
        moment = _local(value, zone)
        return int(value) % SECOND // 10**6 if name == "getMilliseconds" else _CALENDAR[name](moment)
    if kind is Duration and zone is None:
        if name == "getMilliseconds":
            return (abs(int(value)) % SECOND // 10**6) * (-1 if value < 0 else 1)
        if name in _SPAN:
            return abs(int(value)) // _SPAN[name] * (-1 if value < 0 else 1)
    raise Fault("no_such_overload", f"`{name}` is not defined for {spoken(value)}")
