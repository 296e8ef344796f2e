"""Repeated reports: the history shows whether this one ended the attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.msgpack import Encoder
from msgspec.structs import asdict

from penstock.flow.decisions.finish import tag_change
from penstock.flow.model.plan import Entry
from penstock.flow.model.run_input import Done, Failed, Outcome, Parked, TimedOut
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.runtime.queries.history import read_history
from penstock.store.protocol import Runs
from penstock.store.rows.change import WHOLE

REPORTED_BEFORE_END = ("set", "correlated")
"""What a report changes besides ending the attempt: it stands right before that."""
OVER = ("ended", "withdrawn")
"""The entries that end a firing."""


async def verdict_of(store: Runs, report: Report) -> Verdict:
    """Of a report that changed nothing: `repeated` where it ended its attempt, `conflict` where another did."""
    lease = report.lease
    aside: list[Entry] = []
    async for entry in read_history(store, lease.run, lease.firing - 1):
        if entry.firing == lease.firing and entry.kind in REPORTED_BEFORE_END:
            aside.append(entry)
        elif entry.firing == lease.firing and entry.attempt == lease.attempt and _is_end(entry, lease.index):
            if _is_parking(entry) == isinstance(report.outcome, Parked):
                return _judged(entry, aside, report.outcome)
        else:
            aside.clear()
        if entry.firing == lease.firing and entry.kind in OVER:
            break  # no later entry concerns it, however long the run continues
    return "superseded"


def _is_end(entry: Entry, index: int) -> bool:
    if entry.kind != "attempt" and entry.kind != "ended":
        return False
    # The output of a task may have any fields; only an element of an `each` says which one it is.
    return index == WHOLE or (isinstance(entry.data, dict) and entry.data.get("index") == index)


def _is_parking(entry: Entry) -> bool:
    """Whether the attempt did not end, but was handed to somebody outside."""
    return entry.kind == "attempt" and "parked" in entry.data


def _judged(entry: Entry, aside: Sequence[Entry], outcome: Outcome) -> Verdict:
    if isinstance(outcome, Parked):
        return "repeated"
    error = _error(entry)
    if error is None:
        same = isinstance(outcome, Done) and _is_done(entry, aside, outcome)
    else:
        same = _is_failure(entry, error, outcome)
    if same:
        return "repeated"
    return "superseded" if error is not None and _is_time_out(error) else "conflict"


def _error(entry: Entry) -> dict[str, Any] | None:
    """Why the attempt failed; None: it did not. The output of one that ended well may look like a failure."""
    if entry.kind == "ended" and entry.port != "failed":
        return None
    error: dict[str, Any] | None = entry.data.get("error")
    return error


def _is_time_out(error: dict[str, Any]) -> bool:
    """Whether the engine itself ended the attempt; a task may call its own failure a time-out too."""
    detail = error["detail"]
    return error["kind"] in ("timeout", "lost") and isinstance(detail, dict) and list(detail) == ["limit"]


def _is_done(entry: Entry, aside: Sequence[Entry], done: Done) -> bool:
    if entry.kind == "attempt":
        port, output = entry.data["port"], entry.data["output"]
    else:
        port, output = entry.port, entry.data
    keys = {key: value for each in aside if each.kind == "correlated" for key, value in each.data.items()}
    patch = next((each.data for each in aside if each.kind == "set"), None)
    tags = tag_change(done)
    if entry.id != (None if tags is None else tags.mark()):
        return False
    return _equal([port, output, patch, keys], [done.port, done.output, done.set, done.correlate or {}])


def _is_failure(entry: Entry, error: dict[str, Any], outcome: Done | Failed | TimedOut) -> bool:
    """Whether the outcome led to this failure, in the words in which the flow tells it."""
    if isinstance(outcome, Failed):
        final = not outcome.retry and "retry_at" in entry.data
        return not final and _equal(error, asdict(outcome.error))
    if isinstance(outcome, TimedOut):
        told = outcome.message in (None, error["message"])
        return told and _is_time_out(error) and error["detail"]["limit"] == outcome.limit
    if outcome.port == "failed":
        message = f"the task of step '{entry.step}' ended on port `failed`"
        return _equal(error, {"kind": "error", "message": message, "detail": outcome.output})
    said, _, ports = str(error["message"]).partition("; it has ")
    strange = f"the task ended on a port that step '{entry.step}' does not have"
    return said == strange and outcome.port not in ports.split(", ")


def _equal(one: Any, other: Any) -> bool:
    """As they are stored: True is not 1, and a tuple is a list."""
    return _encode(one) == _encode(other)


_encode = Encoder(order="deterministic").encode
