"""The marking of a run, now or after any entry of its history: events in slots, data and tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import NEVER_FIRED, Snapshot
from penstock.flow.model.tags import visible
from penstock.flow.views.replay import begun
from penstock.flow.views.run_view import time_text
from penstock.kernel.marking import Marking, Token
from penstock.kernel.net import WiredSlot


def marking_now(
    flow: Flow, snapshot: Snapshot, steps: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The marking as it is: `expect` of a repair is its `seq`. `steps`: how the run is shown, where that is known."""
    shown = {}
    for name in flow.steps:
        state = snapshot.steps.get(name, NEVER_FIRED)
        told = {"status": state.status, "reason": state.reason} if steps is None else steps[name]
        shown[name] = {
            "status": told["status"],
            "reason": told["reason"],
            "firings": state.firings,
            "live": len(state.live),
        }
    beside = {"data": snapshot.data, "tags": visible(snapshot.tags)}
    return _view(flow, snapshot.seq, snapshot.marking, shown) | beside


class Past:
    """The marking of a run after some of its entries, which are taken one by one from the first on.

    None of them is kept: the history of a run that goes round for months has no end, and anybody may ask for it.
    """

    def __init__(self, flow: Flow, tags: Mapping[str, Any] | None = None) -> None:
        """`tags` are those that the run began with."""
        self._flow, self._seq = flow, 0
        self._steps = {
            name: {"status": "blocked", "reason": None, "firings": 0, "live": 0} for name in flow.steps
        }
        self._then = begun(flow, tags)

    def take(self, entry: Entry) -> None:
        """The next entry. Raises BrokenHistory."""
        self._seq = entry.seq
        if entry.step in self._steps:
            _count(self._steps[entry.step], entry)
        self._then.take(entry)
        if entry.kind == "ended" and entry.port != "failed" and entry.firing is not None:
            self._then.taken.pop(entry.firing, None)  # only what failed or was withdrawn is ever put back

    def view(self) -> dict[str, Any]:
        """The marking after the last entry that was taken."""
        shown = _view(self._flow, self._seq, self._then.marking.marking(), self._steps)
        return shown | {"data": self._then.data, "tags": visible(self._then.tags)}


def _count(state: dict[str, Any], entry: Entry) -> None:
    """What one entry says about its step."""
    if entry.kind == "fired":
        state.update(status="running", firings=state["firings"] + 1, live=state["live"] + 1)
    elif entry.kind == "ended" or (entry.kind == "withdrawn" and entry.firing is not None):
        status = (
            "canceled" if entry.kind == "withdrawn" else "failed" if entry.port == "failed" else "complete"
        )
        state.update(status=status, live=state["live"] - 1)
    elif entry.kind == "repaired" and (entry.data or {}).get("cleared"):
        state["status"] = "complete"


def _view(flow: Flow, seq: int, marking: Marking, steps: Mapping[str, Any]) -> dict[str, Any]:
    waiting: dict[int, list[tuple[str | None, Token]]] = {}
    for place, tokens in marking.tokens.items():
        index, key = (place, None) if isinstance(place, int) else place
        waiting.setdefault(index, []).extend((key, token) for token in tokens)
    return {
        "seq": seq,
        "slots": [
            _slot(flow, slot, sorted(waiting.get(slot.index, ()), key=lambda each: each[1].number))
            for slot in flow.wiring.slots
        ],
        "steps": dict(steps),
    }


def _slot(flow: Flow, slot: WiredSlot, waiting: list[tuple[str | None, Token]]) -> dict[str, Any]:
    return {
        "step": flow.wiring.steps[slot.step].name,
        "slot": slot.position,
        "takes": list(slot.events),
        "need": slot.need or 1,
        "events": [event_view(token, key) for key, token in waiting],
    }


def event_view(token: Token, key: str | None = None) -> dict[str, Any]:
    """One event that waits; `key` is that of a step with `match`."""
    origin = token.load
    return {
        "number": token.number,
        "event": token.name,
        "data": origin.data,
        "at": time_text(origin.at),
        "step": origin.step,
        **({} if key is None else {"key": key}),
    }
