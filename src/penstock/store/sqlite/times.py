"""Times in the rows: whole microseconds since 1970, so that they compare as numbers and lose nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = 9_000_000_000_000_000_000
"""Later than every time: a limit that is not there. A null would hide its row from every comparison."""

_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The edges of the calendar."""


def micros(when: datetime) -> int:
    """A time as it is stored."""
    return length(when - EPOCH)


def length(span: timedelta) -> int:
    """A duration as it is stored."""
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def length_or_none(span: timedelta | None) -> int | None:
    """A duration that may be absent."""
    return None if span is None else length(span)


def moment(stored: int) -> datetime:
    """A stored time. One beyond the calendar comes as its edge: it must not keep the others from being read."""
    return EPOCH + timedelta(microseconds=min(max(stored, _FIRST), _LAST))


def moment_or_none(stored: int | None) -> datetime | None:
    """A stored time that may be absent."""
    return None if stored is None or stored >= NEVER else moment(stored)


def after(now: int, span: timedelta | None) -> int:
    """When a limit strikes that counts from now; NEVER where there is none."""
    return NEVER if span is None else now + length(span)
