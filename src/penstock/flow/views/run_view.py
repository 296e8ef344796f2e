"""A run as people and programs read it: the JSON of the API and of `--json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.quiescence import parked_steps, starving, waiting_for
from penstock.flow.decisions.scope import run_variable
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import NEVER_FIRED, Failure, Snapshot, attempts_of
from penstock.flow.model.tags import visible
from penstock.kernel.firing import enabled


def run_view(flow: Flow, snapshot: Snapshot) -> dict[str, Any]:
    """The whole run, every key always there."""
    header = snapshot.run
    resting = snapshot.status in ("waiting", "stalled")
    return {
        **run_variable(header),
        "status": snapshot.status,
        "ending": snapshot.ending,
        "input": header.input,
        "data": snapshot.data,
        "tags": visible(snapshot.tags),
        "result": snapshot.result,
        "labels": header.labels,
        "keys": keys_view(snapshot),
        "parent": header.parent,
        "rerun_of": header.rerun_of,
        "started_at": time_text(snapshot.started_at),
        "ended_at": time_text(snapshot.ended_at),
        "error": failure_view(snapshot.error),
        "waiting_for": [*waiting_for(flow, snapshot), *parked_steps(snapshot)] if resting else [],
        "starving": [{"step": each.step, "missing": each.events()} for each in starving(flow, snapshot)]
        if resting
        else [],
        "set_aside": [
            {"step": each.step, "event": each.token.name, "reason": each.reason} for each in snapshot.aside
        ],
        "steps": {name: step_view(flow, snapshot, name) for name in flow.steps} | _paused(flow, snapshot),
    }


def _paused(flow: Flow, snapshot: Snapshot) -> dict[str, Any]:
    """The steps that could begin if the run were not paused (R12)."""
    if not snapshot.paused or snapshot.ended or snapshot.ending is not None:
        return {}
    held = {"status": "ready", "reason": "pause"}
    return {name: step_view(flow, snapshot, name) | held for name in enabled(flow.wiring, snapshot.marking)}


def keys_view(snapshot: Snapshot) -> dict[str, str]:
    """The correlation keys of a run; of several values of one name the latest."""
    return dict(sorted(snapshot.keys, key=snapshot.keys.__getitem__))


def step_view(flow: Flow, snapshot: Snapshot, name: str) -> dict[str, Any]:
    """One step in a run: that of its latest firing; one that is disabled and never fired is shown as disabled (R9)."""
    state = snapshot.steps.get(name, NEVER_FIRED)
    firing = snapshot.firings.get(state.latest)
    disabled = snapshot.disabled.get(name, flow.steps[name].disabled)
    names = ("total", "done", "failed")
    elements = None if state.elements is None else dict(zip(names, state.elements, strict=True))
    return {
        "status": "disabled" if state == NEVER_FIRED and disabled else state.status,
        "reason": state.reason,
        "firings": state.firings,
        "attempts": state.attempts if firing is None else attempts_of(snapshot.elements, firing),
        "port": state.port,
        "output": state.output,
        "error": failure_view(state.error),
        "elements": elements,
    }


def history_view(history: Iterable[Entry], begun: Mapping[int, datetime] = {}) -> list[dict[str, Any]]:
    """The history, gap-free, with times in UTC; `begun` says of entries when the attempt that ended had begun."""
    return [
        {
            "seq": entry.seq,
            "at": time_text(entry.at),
            "kind": entry.kind,
            "step": entry.step,
            "event": entry.event,
            "port": entry.port,
            "attempt": entry.attempt,
            "firing": entry.firing,
            "started_at": time_text(begun.get(entry.seq)),
            "data": _plain(entry.data),
        }
        for entry in history
    ]


def failure_view(failure: Failure | None) -> dict[str, Any] | None:
    return None if failure is None else asdict(failure)


def time_text(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping) and any(isinstance(item, datetime) for item in value.values()):
        return {name: time_text(item) if isinstance(item, datetime) else item for name, item in value.items()}
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value
