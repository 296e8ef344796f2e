"""Redacts what tasks report: failures, progress and log lines, from any worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from penstock.flow.model.run_input import Done, Outcome, Parked, TimedOut
from penstock.runtime.dispatch.gate import Report
from penstock.store.rows.rows import Heartbeat, LogLine

AnyOutcome = TypeVar("AnyOutcome", bound=Outcome)
Redact = Callable[[Any], Any]
"""Gives a JSON value back without secrets."""

Redaction = Callable[[], Awaitable[Redact]]
"""Returns a `Redact` that knows every current secret; called before each write."""


WITHHELD = "withheld: this node lacks the key of the secrets, so it cannot tell whether the text holds one"


async def no_redaction() -> Redact:
    """Where there are no secrets."""
    return lambda value: value


def withhold(value: Any) -> Any:
    """The `Redact` of a node that cannot open every secret: texts are not kept, numbers and the shape are."""
    if isinstance(value, str):
        return WITHHELD
    if isinstance(value, dict):
        return {f"{WITHHELD} ({at})": withhold(item) for at, item in enumerate(value.values())}
    return [withhold(item) for item in value] if isinstance(value, list | tuple) else value


def is_result(outcome: Outcome) -> bool:
    """Whether it is what a task gives, which is its own and stays; on port `failed` it says why the task failed."""
    return type(outcome) is Done and outcome.port != "failed"


def redacted_report(report: Report, redact: Redact) -> Report:
    """A report with its outcome redacted."""
    return replace(report, outcome=redacted_outcome(report.outcome, redact))


def redacted_outcome(outcome: AnyOutcome, redact: Redact) -> AnyOutcome:
    """Why a task failed, without secrets."""
    if isinstance(outcome, Parked) or is_result(outcome):
        return outcome
    if isinstance(outcome, Done):
        return replace(outcome, output=redact(outcome.output))
    if isinstance(outcome, TimedOut):
        return replace(outcome, message=redact(outcome.message))
    error = outcome.error
    return replace(outcome, error=replace(error, message=redact(error.message), detail=redact(error.detail)))


def redacted_answer(outcome: AnyOutcome, redact: Redact) -> AnyOutcome:
    """What a step gives to which secrets were given: a server that was called with them may echo them."""
    if not isinstance(outcome, Done):
        return outcome
    output, tags, data = redact(outcome.output), redact(outcome.tags), redact(outcome.set)
    return replace(outcome, output=output, tags=tags, set=data)


def redacted_heartbeat(heartbeat: Heartbeat, redact: Redact) -> Heartbeat:
    if heartbeat.progress is None:
        return heartbeat
    return replace(heartbeat, progress=_encode(redact(msgspec.json.decode(heartbeat.progress))))


def redacted_line(line: LogLine, redact: Redact) -> LogLine:
    body = msgspec.json.decode(line.body)
    return replace(line, body=_encode({**body, "text": redact(body["text"])}))


_encode = msgspec.json.Encoder().encode
