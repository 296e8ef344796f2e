"""Durations as definitions write them: `500ms`, `0.5s`, `90s`, `15m`, `10h`, `2d`, or a number of seconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

MAX_DURATION = timedelta(days=36_500)
"""A hundred years: longer ones overflow when they are added to a date."""

FORMS = "write it like 500ms, 0.5s, 90s, 15m, 10h or 2d, or as a number of seconds"

_TEXT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)(ms|s|m|h|d)")
_MICROSECONDS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}


def parse_duration(value: object) -> timedelta:
    """The duration that `value` says. Raises ValueError with the end of a sentence that tells the remedy."""
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if not found:
            raise ValueError(f"is no duration; {FORMS}")
        amount = int(found[1]) if found[1].isdigit() else Fraction(found[1])
        microseconds = amount * _MICROSECONDS[found[2]]
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"is no duration; {FORMS}")
    else:
        microseconds = Fraction(str(value)) * 1_000_000
    if microseconds < 0:
        raise ValueError("is negative; a duration is 0 or more")
    if microseconds > MAX_DURATION // timedelta(microseconds=1):
        raise ValueError(f"is too long; {MAX_DURATION.days}d at most")
    return timedelta(microseconds=round(microseconds))


def moment_of(value: object, now: datetime) -> datetime:
    """A duration from now on, or a time such as 2026-05-01T12:00:00Z. Raises ValueError."""
    try:
        return now + parse_duration(value)
    except ValueError:
        if not isinstance(value, str):
            raise
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def format_duration(duration: timedelta) -> str:
    """The shortest text that `parse_duration` reads as exactly this duration."""
    microseconds = duration // timedelta(microseconds=1)
    if not microseconds:
        return "0s"
    for unit, size in _MICROSECONDS.items():
        if microseconds % size == 0:
            return f"{microseconds // size}{unit}"
    whole, rest = divmod(microseconds, 1_000_000)
    return f"{whole}.{rest:06d}".rstrip("0") + "s"
