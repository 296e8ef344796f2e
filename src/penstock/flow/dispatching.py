"""Elements on their way to a worker: dispatched, held for a reason, or queued behind `parallel` (R11, R12)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from penstock.flow.compile import FlowStep
from penstock.flow.plan import Acquire, Attempt
from penstock.flow.run import Element, ElementState, Firing
from penstock.flow.turn import Turn

REASONS = {"backoff": "backoff", "key": "key", "paused": "pause"}


def start(turn: Turn, step: FlowStep, firing: Firing, element: Element) -> None:
    """Begin the attempts of an element: first its key where it has one, then its task list."""
    if element.key is None:
        dispatch(turn, step, firing, element)
    else:
        hold(turn, element, "key")
        turn.acquires += (Acquire(element.key, step.serialize_limit, element.id),)


def dispatch(turn: Turn, step: FlowStep, firing: Firing, element: Element) -> None:
    """Put the next attempt of an element on its task list, unless a pause holds it."""
    if not turn.open:
        hold(turn, element, "paused")
        return
    tried = Element(
        element.firing, element.index, element.step, "running", element.params, element.attempt + 1,
        element.failures, element.timeouts, element.multiplier, element.key,
    )  # fmt: skip
    _hand_over(turn, step, firing, tried)
    if element.state != "queued":
        state = turn.steps[step.name]
        if state.status == "ready" and state.latest == firing.number:
            turn.steps = turn.steps.set(step.name, replace(state, status="running", reason=None))


def dispatch_plain(turn: Turn, step: FlowStep, firing: Firing, params: Any) -> None:
    """The first attempt of a firing that begins and of which nothing had to be evaluated: most are."""
    _hand_over(turn, step, firing, Element(firing.number, None, step.name, "running", params, 1))


def _hand_over(turn: Turn, step: FlowStep, firing: Firing, element: Element) -> None:
    turn.keep_element(element)
    turn.attempts.append(
        Attempt(
            turn.was.run, firing.number, element.index, step.name, step.task, element.attempt, element.params,
            turn.data, firing.tags, firing.taken,
            step.timeouts if element.multiplier == 1 else step.timeouts.times(element.multiplier),
            step.task_list, step.priority, step.ports,
        )
    )  # fmt: skip


def hold(turn: Turn, element: Element, state: ElementState) -> None:
    """Keep an element that is in motion and not with a worker: its step is ready, for a reason."""
    turn.keep_element(replace(element, state=state))
    before = turn.steps[element.step]
    if state in REASONS and element.index is None and before.latest == element.firing:
        turn.steps = turn.steps.set(element.step, replace(before, status="ready", reason=REASONS[state]))


def refill(turn: Turn, step: FlowStep, firing: Firing) -> Firing:
    """R11: start queued elements of an `each` as far as `parallel` allows; the firing with its counts."""
    assert firing.total is not None
    begun, live = firing.begun, firing.live
    while begun < firing.total and (step.parallel is None or live < step.parallel):
        element = turn.elements.get((firing.number, begun))
        begun += 1
        if element is not None and element.state == "queued":
            live += 1
            start(turn, step, firing, element)
    if (begun, live) != (firing.begun, firing.live):
        firing = replace(firing, begun=begun, live=live)
        turn.firings = turn.firings.set(firing.number, firing)
    return firing
