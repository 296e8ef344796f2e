"""The history of a run as spans: one for the run, one a firing, one an attempt. Values only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct

from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Snapshot
from penstock.runtime.node.trace_ids import span_id

MAX_SPANS = 2000
"""Spans that one run may have; of one that has more the last are left out."""


class Span(Struct, frozen=True, kw_only=True):
    """Something that took time."""

    id: int
    parent: int | None  # None: of the caller, where there is one
    name: str
    began: datetime
    ended: datetime
    error: str | None = None
    attributes: dict[str, str | int] = {}


class _Firing(Struct):
    step: str
    at: datetime
    begun: dict[int | None, datetime] = {}


def spans_of(snapshot: Snapshot, history: Iterable[Entry]) -> list[Span]:
    """The spans of a run that has ended, the run itself first."""
    run = snapshot.run
    reader = _Reader(run.id)
    for entry in history:
        reader.read(entry)
    began, ended = snapshot.started_at, snapshot.ended_at
    assert began is not None and ended is not None, "only a run that has ended is told as spans"
    whole = Span(
        id=span_id(run.id),
        parent=None,
        name=run.workflow,
        began=began,
        ended=ended,
        error=None if snapshot.status == "succeeded" else snapshot.status,
        attributes={
            "penstock.run": run.id,
            "penstock.workflow": run.workflow,
            "penstock.version": run.version,
            "penstock.status": snapshot.status,
            **({"penstock.spans_left_out": reader.left_out} if reader.left_out else {}),
        },
    )
    return [whole, *reader.spans]


class _Reader:
    def __init__(self, run: str) -> None:
        self.run = run
        self.firings: dict[int, _Firing] = {}
        self.spans: list[Span] = []
        self.left_out = 0

    def read(self, entry: Entry) -> None:
        if entry.kind == "fired" and entry.step is not None:
            self.firings[entry.seq] = _Firing(entry.step, entry.at)
        firing = None if entry.firing is None else self.firings.get(entry.firing)
        if firing is None or entry.firing is None:
            return
        if entry.kind == "attempt":
            self.attempt(entry.firing, firing, entry)
        elif entry.kind in ("ended", "withdrawn"):
            if entry.kind == "ended" and entry.attempt is not None and not firing.begun.keys() - {None}:
                self.attempt(entry.firing, firing, entry)
            self.firing(entry.firing, firing, entry)

    def attempt(self, number: int, firing: _Firing, entry: Entry) -> None:
        if entry.attempt is None:
            return
        said = entry.data if isinstance(entry.data, dict) and entry.kind == "attempt" else {}
        if "parked" in said:
            return  # it goes on with somebody outside
        index = said.get("index")
        error = "failed" if "error" in said or entry.port == "failed" else None
        self.keep(
            Span(
                id=span_id(self.run, number, index, entry.attempt),
                parent=span_id(self.run, number),
                name=f"{firing.step} attempt {entry.attempt}",
                began=firing.begun.get(index, firing.at),
                ended=entry.at,
                error=error,
                attributes=_attributes(self.run, firing.step, attempt=entry.attempt, index=index),
            )
        )
        firing.begun[index] = said.get("retry_at") or entry.at

    def firing(self, number: int, firing: _Firing, entry: Entry) -> None:
        withdrawn = entry.kind == "withdrawn"
        self.keep(
            Span(
                id=span_id(self.run, number),
                parent=span_id(self.run),
                name=firing.step,
                began=firing.at,
                ended=entry.at,
                error="failed" if entry.port == "failed" else "withdrawn" if withdrawn else None,
                attributes=_attributes(self.run, firing.step, port=entry.port),
            )
        )
        self.firings.pop(number, None)

    def keep(self, span: Span) -> None:
        if len(self.spans) < MAX_SPANS:
            self.spans.append(span)
        else:
            self.left_out += 1


def _attributes(run: str, step: str, **more: Any) -> dict[str, str | int]:
    said = {f"penstock.{name}": value for name, value in more.items() if value is not None}
    return {"penstock.run": run, "penstock.step": step, **said}
