"""What tasks say of themselves, without what must not be kept: failures, progress and log lines, from any worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from penstock.flow.occurrence import Done, Parked, TimedOut
from penstock.runtime.gate import Report
from penstock.store.rows import Beat, LogLine

Blot = Callable[[Any], Any]
"""Gives a JSON value back without secrets."""


def blotted_report(report: Report, blot: Blot) -> Report:
    """Why it failed; what it gives is its own and stays."""
    outcome = report.outcome
    if isinstance(outcome, Done | Parked):
        return report
    if isinstance(outcome, TimedOut):
        return replace(report, outcome=replace(outcome, message=blot(outcome.message)))
    error = outcome.error
    said = replace(error, message=blot(error.message), detail=blot(error.detail))
    return replace(report, outcome=replace(outcome, error=said))


def blotted_beat(beat: Beat, blot: Blot) -> Beat:
    return beat if beat.progress is None else replace(beat, progress=_blotted(beat.progress, blot))


def blotted_line(line: LogLine, blot: Blot) -> LogLine:
    return replace(line, body=_blotted(line.body, blot))


def _blotted(text: bytes, blot: Blot) -> bytes:
    """JSON as it is written: a blot needs no escape."""
    said: str = blot(text.decode())
    return said.encode()
