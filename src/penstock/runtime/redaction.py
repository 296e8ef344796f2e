"""What tasks say of themselves, without secrets: failures, progress and log lines, from any worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from penstock.flow.occurrence import Done, Parked, TimedOut
from penstock.runtime.gate import Report
from penstock.store.rows import Beat, LogLine

Redact = Callable[[Any], Any]
"""Gives a JSON value back without secrets."""

Redaction = Callable[[], Awaitable[Redact]]
"""Gives the `Redact` that knows every secret of this moment; it is asked whenever something is to be written."""


async def no_redaction() -> Redact:
    """Where there are no secrets."""
    return lambda value: value


def redacted_report(report: Report, redact: Redact) -> Report:
    """Why it failed; what it gives is its own and stays."""
    outcome = report.outcome
    if isinstance(outcome, Done | Parked):
        return report
    if isinstance(outcome, TimedOut):
        return replace(report, outcome=replace(outcome, message=redact(outcome.message)))
    error = outcome.error
    said = replace(error, message=redact(error.message), detail=redact(error.detail))
    return replace(report, outcome=replace(outcome, error=said))


def redacted_beat(beat: Beat, redact: Redact) -> Beat:
    return beat if beat.progress is None else replace(beat, progress=_redacted(beat.progress, redact))


def redacted_line(line: LogLine, redact: Redact) -> LogLine:
    return replace(line, body=_redacted(line.body, redact))


def _redacted(text: bytes, redact: Redact) -> bytes:
    """JSON as it is written: `***` needs no escape."""
    said: str = redact(text.decode())
    return said.encode()
