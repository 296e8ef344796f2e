"""A run as readable text: what happened when, and what it waits for. For assertion messages and people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.quiescence import starving, waiting_for
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Snapshot
from penstock.kernel.net import RESERVED, WiredSlot
from penstock.testing.exploration import held

MAX_LINES = 200
MAX_WIDTH = 120


def explain(flow: Flow, snapshot: Snapshot, history: list[Entry]) -> str:
    """What the run is, its history with times from its start, and why it does not go on."""
    begun = snapshot.started_at
    lines = [_headline(flow, snapshot)]
    told = [line for entry in history for line in _entry(entry, begun)]
    if len(told) > MAX_LINES:
        cut = len(told) - MAX_LINES
        told = [*told[: MAX_LINES // 2], f"  … {cut} lines …", *told[-MAX_LINES // 2 :]]
    lines += told
    lines += _rest(flow, snapshot)
    return "\n".join(lines)


def _headline(flow: Flow, snapshot: Snapshot) -> str:
    line = f"run of '{flow.name}': {snapshot.status}"
    if snapshot.started_at is not None and snapshot.ended_at is not None:
        line += f" after {clock_text(snapshot.ended_at - snapshot.started_at)}"
    if snapshot.error is not None:
        line += f" ({snapshot.error.kind}: {snapshot.error.message})"
    return line


def clock_text(span: timedelta) -> str:
    """A span of time as people read it: 1.5s, 02:30:00, 2d 00:00:09."""
    if span < timedelta(minutes=1):
        return f"{round(span.total_seconds(), 3):g}s"
    hours, rest = divmod(span.seconds, 3600)
    days = f"{span.days}d " if span.days else ""
    return f"{days}{hours:02}:{rest // 60:02}:{rest % 60:02}"


def _entry(entry: Entry, begun: datetime | None) -> Iterator[str]:
    words = _words(entry)
    if words:
        since = clock_text(entry.at - begun) if begun is not None else ""
        yield f"  {'+' + since:>12}  {words}"


def _words(entry: Entry) -> str | None:
    data = entry.data if isinstance(entry.data, dict) else {}
    error = (data.get("error") or {}) if isinstance(data.get("error"), dict) else {}
    told = f": {error.get('kind')}: {error.get('message')}" if error else ""
    match entry.kind:
        case "event":
            by = f" by {entry.step}" if entry.step else "" if entry.event in RESERVED else " from outside"
            return f"event {entry.event}{by}"
        case "fired":
            return f"{entry.step} begins"
        case "attempt":
            number = f" attempt {entry.attempt}" if entry.attempt else ""
            item = f" of item {data['index']}" if data.get("index") is not None else ""
            return f"{entry.step}{number}{item} {'failed' if error else 'is over'}{told}"
        case "ended":
            return _short(f"{entry.step} ends on {entry.port}" + (told or _output(entry.data)))
        case "withdrawn":
            what = f"{entry.step or ''} {'event ' + entry.event if entry.event else ''}".strip()
            return f"{what} withdrawn: {data.get('reason')}"
        case "run_ended":
            return f"the run ends: {data.get('status')}"
        case _:
            return _short(f"{entry.kind} {entry.step or ''}".rstrip() + _output(entry.data))


def _output(value: Any) -> str:
    return "" if value is None else f": {json.dumps(value, ensure_ascii=False, default=str)}"


def _short(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 1] + "…"


def _rest(flow: Flow, snapshot: Snapshot) -> Iterator[str]:
    if snapshot.status in ("waiting", "stalled"):
        waits = waiting_for(flow, snapshot)
        if waits:
            yield f"waits for {', '.join(waits)}"
        for each in starving(flow, snapshot):
            yield f"{each.step} misses {', '.join(each.missing)}"
    moving = [
        f"{element.step} ({element.state})"
        for _, element in sorted(snapshot.elements.items(), key=lambda item: item[0][0])
    ]
    if moving:
        yield f"under way: {', '.join(moving)}"


def marking_view(flow: Flow, snapshot: Snapshot) -> dict[str, dict[str, list[str]]]:
    """The events that wait: step → slot, as the definition writes it → names, the oldest first."""
    view: dict[str, dict[str, list[str]]] = {}
    waits = held(snapshot)
    for step in flow.wiring.steps:
        for slot in step.slots:
            tokens = sorted(waits.get(slot.index, ()), key=lambda token: token.number)
            if names := [token.name for token in tokens]:
                view.setdefault(step.name, {}).setdefault(slot_text(slot), []).extend(names)
    return view


def slot_text(slot: WiredSlot) -> str:
    """A slot as a person would write it."""
    if not slot.need:
        return " | ".join(slot.events)
    return f"{slot.need} of {', '.join(slot.events)}"
