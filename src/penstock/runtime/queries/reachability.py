"""Whether a run can still end, computed from its snapshot."""

from __future__ import annotations

import time
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Token
from penstock.kernel.proof.prospect import Here, Prospect, prospect
from penstock.kernel.proof.search import Budget

MAX_STATES = 20_000
SEARCH_TIMEOUT = 0.25
"""Time limit of the search, because it blocks other callers."""


def reachability_of(flow: Flow, snapshot: Snapshot) -> dict[str, Any]:
    """`{verdict, text, starving}`: what can become of the run; `ended` where it has, or is being cleaned up."""
    if snapshot.ended:
        return {"verdict": "ended", "text": f"The run ends: {_word(snapshot.status)}.", "starving": {}}
    if snapshot.ending is not None:
        text = f"The run ends once it is cleaned up: {_word(snapshot.ending)}."
        return {"verdict": "ended", "text": text, "starving": {}}
    end = time.monotonic() + SEARCH_TIMEOUT
    found = prospect(
        flow.wiring, _here(flow, snapshot), Budget(MAX_STATES, lambda: time.monotonic() > end), _outside
    )
    starving = {step: list(events) for step, events in found.starving.items()}
    return {"verdict": found.outlook, "text": _text(found), "starving": starving}


def _outside(token: Token) -> bool:
    return token.load.step is None


def _here(flow: Flow, snapshot: Snapshot) -> Here:
    marking = MutableMarking(flow.wiring, snapshot.marking)
    begun = set()
    for firing in snapshot.firings.values():
        step = flow.wiring.by_name[firing.step]
        if step.cancels:
            begun.add(step.index)
        elif firing.taken.slots:
            marking.put_back(step, firing.taken)
    return Here(
        marking=marking.marking(),
        came=frozenset(snapshot.came),
        ok=snapshot.ok,
        put_off=bool(snapshot.put_off),
        begun=frozenset(begun),
    )


def _text(found: Prospect) -> str:
    if found.outlook == "ends":
        return "The run can still end, whatever ports its steps end on."
    waits = [f"'{step}' waits for {' and '.join(events)}" for step, events in found.starving.items()]
    if found.outlook == "may_stall":
        return f"The run can end, but it can also get stuck{_where(waits)}."
    if found.outlook == "stalls":
        return f"The run cannot finish after this repair{_where(waits)}."
    return "It is unknown whether the run can still end."


def _word(status: str) -> str:
    return status.replace("_", " ")


def _where(waits: list[str]) -> str:
    return f": {'; '.join(waits)}, which would not come" if waits else ""
