"""Elements on their way to a worker: dispatched, held for a reason, or queued behind `parallel` (R11, R12)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from penstock.flow.compile.compile import FlowStep
from penstock.flow.decisions.creation import new_attempt
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.box import TIMES
from penstock.flow.model.plan import Acquire, Attempt, Timer
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import Element, ElementState, Firing
from penstock.flow.model.run_input import Reported, TimedOut
from penstock.flow.values.duration import moment_of
from penstock.flow.views.run_view import time_text

REASONS = {"backoff": "backoff", "key": "key", "paused": "pause"}


def start(decision: DecisionState, step: FlowStep, firing: Firing, element: Element) -> None:
    """Begin the attempts of an element: first its key where it has one, then its task list."""
    if element.key is None:
        dispatch(decision, step, firing, element)
    else:
        hold(decision, element, "key")
        decision.acquires += (Acquire(element.key, step.serialize_limit, element.id),)


def dispatch(decision: DecisionState, step: FlowStep, firing: Firing, element: Element) -> None:
    """Put the next attempt of an element on its task list, unless a pause holds it."""
    if not decision.open:
        hold(decision, element, "paused")
        return
    params = element.params if step.under_way == "running" else _asked_now(element.params, decision.now)
    tried = replace(element, state=step.under_way, params=params, attempt=element.attempt + 1, output=None)
    _hand_over(decision, step, firing, tried)
    if element.state != "queued":
        state = decision.steps[step.name]
        if state.status == "ready" and state.latest == firing.number:
            decision.steps = decision.steps.set(step.name, replace(state, status="running", reason=None))


def _asked_now(params: Any, now: datetime) -> Any:
    """A question with its times as moments: who queued for a key or was paused is not late before being asked."""
    return {
        name: time_text(moment_of(value, now)) if name in TIMES and value is not None else value
        for name, value in params.items()
    }


def dispatch_plain(decision: DecisionState, step: FlowStep, firing: Firing, params: Any) -> None:
    """The first attempt of a firing that begins and of which nothing had to be evaluated: most are."""
    _hand_over(decision, step, firing, Element(firing.number, None, step.name, step.under_way, params, 1))


def _hand_over(decision: DecisionState, step: FlowStep, firing: Firing, element: Element) -> None:
    decision.keep_element(element)
    decision.attempts.append(new_attempt(decision.was.run, step, firing, element, decision.data))


def limits(times: Timeouts, attempt: Attempt | Element, now: datetime) -> tuple[Timer, ...]:
    """The time-outs of an attempt that no worker holds a lease of, as timers; a stale one changes nothing."""
    found = (("start_to_close", times.start_to_close), ("schedule_to_close", times.schedule_to_close))
    return tuple(
        Timer(now + limit, Reported(attempt.firing, attempt.index, attempt.attempt, TimedOut(name)))
        for name, limit in found
        if limit is not None
    )


def hold(decision: DecisionState, element: Element, state: ElementState) -> None:
    """Keep an element that is in motion and not with a worker: its step is ready, for a reason."""
    decision.keep_element(replace(element, state=state))
    before = decision.steps[element.step]
    if state in REASONS and element.index is None and before.latest == element.firing:
        decision.steps = decision.steps.set(
            element.step, replace(before, status="ready", reason=REASONS[state])
        )


def refill(decision: DecisionState, step: FlowStep, firing: Firing) -> Firing:
    """R11: start queued elements of an `each` as far as `parallel` allows; the firing with its counts."""
    assert firing.total is not None
    begun, live = firing.begun, firing.live
    while begun < firing.total and (step.parallel is None or live < step.parallel):
        element = decision.elements.get((firing.number, begun))
        begun += 1
        if element is not None and element.state == "queued":
            live += 1
            start(decision, step, firing, element)
    if (begun, live) != (firing.begun, firing.live):
        firing = replace(firing, begun=begun, live=live)
        decision.firings = decision.firings.set(firing.number, firing)
    return firing
