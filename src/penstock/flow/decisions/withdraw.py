"""Firings and events are withdrawn: they fire nothing, their leases are void, their keys free (R6, R10)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from penstock.flow.compile.compile import FlowStep
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Release
from penstock.flow.model.run import NEVER_FIRED, Element, Failure, Firing, StepState, StepStatus, attempts_of


def close_element(decision: DecisionState, element: Element) -> None:
    """Forget an element; it no longer holds or awaits its `serialize` key."""
    key = element.firing, element.index
    decision.drop_element(key)
    if element.key is not None:
        decision.releases += (Release(element.key, key),)


def close_firing(
    decision: DecisionState,
    firing: Firing,
    status: StepStatus,
    attempts: int = 0,
    port: str | None = None,
    output: Any = None,
    error: Failure | None = None,
) -> None:
    """Forget a firing that has ended or was withdrawn, show its step so, and let the step begin again."""
    decision.firings = decision.firings.delete(firing.number)
    state = decision.steps[firing.step]
    live = () if len(state.live) == 1 else tuple(number for number in state.live if number != firing.number)
    if state.latest == firing.number:
        spoke = state.spoke or status in ("complete", "disabled")
        shown = StepState(
            status=status,
            firings=state.firings,
            live=live,
            latest=state.latest,
            attempts=attempts,
            output=output,
            error=error,
            port=port,
            elements=state.elements,
            spoke=spoke,
        )
    else:
        shown = replace(state, live=live)
    decision.steps = decision.steps.set(firing.step, shown)
    wired = decision.flow.steps[firing.step].wired
    if decision.marking.enabled(wired):
        decision.marking.woken.append(wired.index)


def withdraw_elements(decision: DecisionState, firing: Firing) -> None:
    """Void every element of a firing that has not ended."""
    keys = [(firing.number, index) for index in ([None] if firing.total is None else range(firing.total))]
    elements = [element for key in keys if (element := decision.elements.get(key)) is not None]
    decision.withdrawn += tuple(element.id for element in elements if element.state != "queued")
    for element in elements:
        close_element(decision, element)


def drop_results(decision: DecisionState, firing: Firing) -> None:
    """Forget the outputs of the elements of an `each` that is over."""
    for index in range(firing.total or 0):
        if (firing.number, index) in decision.results:
            decision.drop_result(firing.number, index)


def withdraw_firing(decision: DecisionState, firing: Firing, reason: str) -> None:
    """One firing is withdrawn."""
    attempts = attempts_of(decision.elements, firing)
    withdraw_elements(decision, firing)
    close_firing(decision, firing, "canceled", attempts, output=decision.steps[firing.step].output)
    decision.record("withdrawn", firing.step, data={"reason": reason}, firing=firing.number)


def withdraw_step(decision: DecisionState, step: FlowStep, keep: int, reason: str) -> None:
    """R10: the other firings and the waiting events of a step are withdrawn."""
    for number in decision.steps.get(step.name, NEVER_FIRED).live:
        if number != keep:
            firing = decision.firings[number]
            withdraw_firing(decision, firing, reason)
            drop_results(decision, firing)
    gone = decision.marking.clear(step.wired)
    if gone:
        data = {"events": [token.number for token in gone], "reason": reason}
        decision.record("withdrawn", step.name, data=data)
