"""Moments for people: absolute in UTC or in the zone of this machine, and how long ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from penstock.cli.io.problems import Wrong
from penstock.cli.runs.progress import seconds
from penstock.flow.values.duration import parse_duration

Local = Annotated[bool, typer.Option("--local", help="Show times of this machine's zone instead of UTC.")]


def moment(text: str | None, local: bool = False) -> str:
    """A time of the API as `2026-03-02 15:30:07Z`, or with `local` without the Z."""
    if text is None:
        return ""
    at = datetime.fromisoformat(text)
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}" if local else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"


def ago(text: str | None) -> str:
    """`3m 02s ago`; whole seconds are enough."""
    if text is None:
        return ""
    passed = datetime.now(UTC) - datetime.fromisoformat(text)
    whole = max(0, round(passed.total_seconds()))
    return f"{whole}s ago" if whole < 60 else f"{seconds(timedelta(seconds=whole))} ago"


def between(start: str | None, end: str | None, now: datetime | None = None) -> str:
    """How long something took, or takes so far."""
    if start is None:
        return ""
    until = datetime.fromisoformat(end) if end else now or datetime.now(UTC)
    return seconds(max(timedelta(), until - datetime.fromisoformat(start)))


def read_moment(text: str, option: str) -> datetime:
    """`2026-03-02`, `2026-03-02T15:30:00Z`, or a duration before now such as `2h`. Raises Wrong."""
    try:
        return datetime.now(UTC) - parse_duration(text)
    except ValueError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Wrong.because(
            f"{option} '{text}' is no time: write 2026-03-02T15:30:00Z, 2026-03-02, or 2h for two hours ago."
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
