"""Events are fired: recorded, and a copy put into every slot that waits for them (R2, R3)."""

from __future__ import annotations

from typing import Any

from penstock.expression import EvaluationError
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.scope import event_variable
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.run import Aside, Origin
from penstock.flow.values.key_text import key_text
from penstock.kernel.marking import Token
from penstock.kernel.net import WiredStep


def put_event(decision: DecisionState, name: str, origin: Origin, firing: int | None = None) -> None:
    """Fire one event of the run."""
    number = decision.record("event", origin.step, name, None, None, origin.data, firing, origin.id)
    put_token(decision, Token(number, name, origin))


def put_token(decision: DecisionState, token: Token) -> None:
    """Put copies of an event into the slots; what they swallow or cannot key is recorded."""
    marking = decision.marking
    if not marking.wiring.keyed:
        marking.put(token)
        if marking.dropped:
            record_refused(decision, {})
        return
    reasons: dict[int, str] = {}
    marking.put(token, lambda step, event: _key(decision, step, event, reasons))
    record_refused(decision, reasons)


def record_refused(decision: DecisionState, reasons: dict[int, str]) -> None:
    """Record what slots did not take."""
    marking = decision.marking
    for slot, dropped in marking.dropped:
        record_withdrawn(decision, decision.flow.by_index[slot.step].name, dropped, "not needed")
    for slot, aside in marking.aside:
        name, reason = decision.flow.by_index[slot.step].name, reasons[slot.step]
        record_withdrawn(decision, name, aside, f"set aside: {reason}")
        decision.aside = (*decision.aside, Aside(name, slot.position, aside, reason))
    marking.dropped = marking.aside = ()


def record_withdrawn(decision: DecisionState, step: str, token: Token, reason: str) -> None:
    """Record that an event went no further at a step."""
    decision.record("withdrawn", step, token.name, data={"event": token.number, "reason": reason})


def _key(decision: DecisionState, step: WiredStep, token: Token, reasons: dict[int, str]) -> str | None:
    """R1: the key of an event at a step with `match`, evaluated as it arrives; None sets it aside."""
    key = match_key(decision.flow, step, token, decision.data)
    if isinstance(key, str):
        return key
    reasons[step.index] = "its key is null" if key is None else str(key)
    return None


def match_key(flow: Flow, step: WiredStep, token: Token, data: Any) -> str | EvaluationError | None:
    """The key as a text, None where it is null, or why there is none."""
    match = flow.by_index[step.index].match
    assert match is not None
    try:
        value = match({"event": event_variable(token), "data": data})
    except EvaluationError as error:
        return error
    return None if value is None else key_text(value)
