"""A report that comes again: the history tells whether it is the one that ended the attempt."""

from __future__ import annotations

from typing import Any

from penstock.flow.occurrence import Done, Failed, TimedOut
from penstock.flow.plan import Entry
from penstock.runtime.gate import Report, Verdict
from penstock.runtime.history import read_history
from penstock.store.change import WHOLE
from penstock.store.protocol import Runs


async def verdict_of(store: Runs, report: Report) -> Verdict:
    """Of a report that changed nothing: `repeated` where it ended its attempt, `conflict` where another did."""
    lease = report.lease
    async for entry in read_history(store, lease.run, lease.firing - 1):
        if entry.firing == lease.firing and entry.attempt == lease.attempt and _is_end(entry, lease.index):
            if _timed_out(entry):
                return "superseded"
            return "repeated" if _same(entry, report.outcome) else "conflict"
    return "superseded"


def _is_end(entry: Entry, index: int) -> bool:
    if entry.kind not in ("ended", "attempt"):
        return False
    told = entry.data.get("index") if entry.kind == "attempt" and isinstance(entry.data, dict) else None
    return index == WHOLE or told == index or (entry.kind == "ended" and _field(entry, "index") == index)


def _timed_out(entry: Entry) -> bool:
    error = _field(entry, "error")
    return isinstance(error, dict) and error.get("kind") in ("timeout", "lost")


def _same(entry: Entry, outcome: Done | Failed | TimedOut) -> bool:
    error = _field(entry, "error")
    if isinstance(outcome, Done):
        if entry.kind == "attempt":
            return error is None and _field(entry, "output") == outcome.output
        return entry.port == outcome.port and entry.data == outcome.output
    if isinstance(outcome, Failed):
        return isinstance(error, dict) and error.get("message") == outcome.error.message
    return False


def _field(entry: Entry, name: str) -> Any:
    return entry.data.get(name) if isinstance(entry.data, dict) else None
