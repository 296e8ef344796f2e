"""The decision: what happened to a run → all that follows, as a plan. Pure; rules R1 to R13 of docs/spec/flow.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.begin import begin_woken, go_on, wake_all
from penstock.flow.decisions.dispatch import dispatch
from penstock.flow.decisions.emit import put_event
from penstock.flow.decisions.end import end_early, finish_run
from penstock.flow.decisions.finish import apply_set, finish_element, report
from penstock.flow.decisions.fork import begin_from, set_out
from penstock.flow.decisions.quiescence import settle
from penstock.flow.decisions.repair import give_up, repair, skip
from penstock.flow.decisions.retry import disable, retry
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Answer, Attempt, Plan
from penstock.flow.model.run import Failure, Origin, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    BegunFrom,
    Canceled,
    CleanupTimedOut,
    Continued,
    Disabled,
    Done,
    Failed,
    GivenUp,
    Granted,
    Outside,
    Parked,
    Paused,
    Rang,
    Reminded,
    Repaired,
    Reported,
    Resumed,
    Retried,
    RunInput,
    RunTimedOut,
    Skipped,
)
from penstock.flow.model.tags import NO_TAGS
from penstock.flow.values.duration import format_duration
from penstock.kernel.net import CANCEL, START, TIMEOUT

MAX_INLINE_ATTEMPTS = 1_000
"""Attempts that are done within one decision."""

CONTINUED = Continued()
_ENDINGS = (Canceled, RunTimedOut, CleanupTimedOut)

Do = Callable[[Attempt], Done | Failed | Parked]
"""Does an attempt, and says how it ended."""


def advance(flow: Flow, snapshot: Snapshot, events: Iterable[RunInput], now: datetime) -> Plan:
    """All that follows from `events`. Changes nothing; the same arguments give the same plan."""
    decision = DecisionState(flow, snapshot, now)
    for event in events:
        decision.answers.append(_RULES[type(event)](decision, event))
        begin_woken(decision)
    return _decided(decision)


def advance_through(
    flow: Flow,
    snapshot: Snapshot,
    events: Iterable[RunInput],
    now: datetime,
    do: Do,
    left: Iterable[Attempt] = (),
) -> Plan:
    """The same where attempts are done as they come: what follows from them is decided at once, in the same plan.

    `left` are attempts of decisions before this one: they are done first. Attempts that are left in the plan are to
    be done as always: there were very many.
    """
    decision = DecisionState(flow, snapshot, now)
    for event in events:
        decision.answers.append(_RULES[type(event)](decision, event))
        begin_woken(decision)
    decision.attempts[:0] = left
    done = 0
    while decision.attempts and not decision.unfinished and done < MAX_INLINE_ATTEMPTS:
        attempts, decision.attempts = decision.attempts, []
        for attempt in attempts:
            if _is_wanted(decision, attempt):
                report(decision, Reported(attempt.firing, attempt.index, attempt.attempt, do(attempt)))
                begin_woken(decision)
        done += len(attempts)
    return _decided(decision)


def continue_last(events: list[RunInput]) -> None:
    """An input of a run whose decision stopped half-way must not be mistaken for its continuation, which follows it
    unless it ends the run."""
    if not (events and isinstance(events[-1], _ENDINGS)):
        events.append(CONTINUED)


def _is_wanted(decision: DecisionState, attempt: Attempt) -> bool:
    """Whether nothing that was done before it has withdrawn it."""
    element = decision.elements.get((attempt.firing, attempt.index))
    return element is not None and element.attempt == attempt.attempt and element.state == "running"


def _decided(decision: DecisionState) -> Plan:
    settle(decision)
    if decision.ending is not None and not decision.ended:
        # A failure that was put off may have begun the clean-up.
        begin_woken(decision)
        settle(decision)
    return decision.plan()


def _begin(decision: DecisionState, begun: Begun) -> Answer:
    """R6: START is fired and carries the input."""
    if not set_out(decision, begun.tags):
        return "duplicate"
    put_event(decision, START, Origin(decision.was.run.input, decision.tags, decision.now))
    return "accepted"


def _outside(decision: DecisionState, event: Outside) -> Answer:
    """An event from outside: acted on once unless it is `many`, recorded otherwise."""
    declared = decision.flow.outside.get(event.event)
    if declared is None:
        return "refused"
    if event.id is not None and not event.once:
        if event.id in decision.seen:
            return "duplicate"
        decision.seen = decision.seen.set(event.id, decision.seq + 1)
    times = decision.came.get(event.event, 0)
    if decision.ended or (times and not declared.many):
        reason = "the run has ended" if decision.ended else "it came before"
        data = {"data": event.data, "id": event.id, "reason": reason}
        decision.record("withdrawn", event=event.event, data=data)
        return "recorded"
    decision.came = decision.came.set(event.event, times + 1)
    if event.set is not None:
        apply_set(decision, event.set, None, None)
    origin = Origin(event.data, NO_TAGS, decision.now, None, outside=True, id=event.id)
    put_event(decision, event.event, origin)
    return "accepted"


def _granted(decision: DecisionState, granted: Granted) -> Answer:
    element = decision.elements.get((granted.firing, granted.index))
    if element is None or element.state != "key":
        return "superseded"
    dispatch(decision, decision.step_of(element), decision.firings[element.firing], element)
    return "accepted"


def _timer_fired(decision: DecisionState, timer: Rang) -> Answer:
    element = decision.elements.get((timer.firing, timer.index))
    if element is None or element.attempt != timer.attempt:
        return "superseded"
    step, firing = decision.step_of(element), decision.firings[element.firing]
    if element.state == "backoff":
        dispatch(decision, step, firing, element)
    elif element.state == "sleep":
        finish_element(decision, step, firing, element, "done", element.output)
    else:
        return "superseded"
    return "accepted"


def _remind(decision: DecisionState, reminded: Reminded) -> Answer:
    element = decision.elements.get((reminded.firing, reminded.index))
    if element is None or element.attempt != reminded.attempt or element.state != "parked":
        return "superseded"
    data = {"reminded": True, "parked": "approval", "index": element.index}
    decision.record("attempt", element.step, attempt=element.attempt, data=data, firing=element.firing)
    return "accepted"


def _run_timed_out(decision: DecisionState, timer: RunTimedOut) -> Answer:
    if decision.ended or decision.ending is not None or timer.epoch != decision.epoch:
        return "superseded"
    limit = "" if decision.flow.timeout is None else f" of {format_duration(decision.flow.timeout)}"
    message = f"the run outlived its timeout{limit}"
    end_early(decision, TIMEOUT, None, Failure("timeout", message))
    return "accepted"


def _cleanup_timed_out(decision: DecisionState, timer: CleanupTimedOut) -> Answer:
    if decision.ended or decision.ending is None or timer.epoch != decision.epoch:
        return "superseded"
    finish_run(decision, decision.ending)
    return "accepted"


def _cancel(decision: DecisionState, canceled: Canceled) -> Answer:
    if decision.ended:
        return "refused"
    if canceled.force:
        if decision.ending is None:
            decision.ending = "canceled"
        finish_run(decision, decision.ending)
    else:
        end_early(decision, CANCEL, {"reason": canceled.reason}, None)
    return "accepted"


def _pause(decision: DecisionState, paused: Paused) -> Answer:
    if decision.ended or paused.by in decision.paused:
        return "refused" if decision.ended else "duplicate"
    if not decision.paused:
        decision.record("paused", data=None if paused.by == "run" else {"by": paused.by})
    decision.paused = (*decision.paused, paused.by)
    return "accepted"


def _resume(decision: DecisionState, resumed: Resumed) -> Answer:
    if decision.ended or resumed.by not in decision.paused:
        return "refused" if decision.ended else "duplicate"
    decision.paused = tuple(by for by in decision.paused if by != resumed.by)
    if decision.paused:
        return "accepted"
    decision.record("resumed", data=None if resumed.by == "run" else {"by": resumed.by})
    held = sorted(
        (element.firing, element.index or 0, element)
        for element in decision.elements.values()
        if element.state == "paused"
    )
    for _number, _index, element in held:
        dispatch(decision, decision.step_of(element), decision.firings[element.firing], element)
    if decision.ending is None:
        wake_all(decision)
    return "accepted"


def _retry(decision: DecisionState, retried: Retried) -> Answer:
    answer = retry(decision, retried)
    if answer == "accepted":
        wake_all(decision)
    return answer


def _continue(decision: DecisionState, _: Continued) -> Answer:
    go_on(decision)
    return "accepted"


_RULES: dict[type[Any], Callable[[DecisionState, Any], Answer]] = {
    Begun: _begin,
    BegunFrom: begin_from,
    Outside: _outside,
    Reported: report,
    Reminded: _remind,
    Granted: _granted,
    Rang: _timer_fired,
    RunTimedOut: _run_timed_out,
    CleanupTimedOut: _cleanup_timed_out,
    Canceled: _cancel,
    Paused: _pause,
    Resumed: _resume,
    Retried: _retry,
    Disabled: disable,
    Repaired: repair,
    Skipped: skip,
    GivenUp: give_up,
    Continued: _continue,
}
