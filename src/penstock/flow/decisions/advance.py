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
from penstock.flow.model.run import Failure, Header, Origin, Snapshot
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

Do = Callable[[Attempt], Done | Failed | Parked]
"""Does an attempt, and says how it ended."""


def new_run(header: Header) -> Snapshot:
    """A run before anything has happened to it."""
    return Snapshot(run=header, data=header.input if header.input is not None else {})


def advance(flow: Flow, snapshot: Snapshot, events: Iterable[RunInput], now: datetime) -> Plan:
    """All that follows from `events`. Changes nothing; the same arguments give the same plan."""
    turn = DecisionState(flow, snapshot, now)
    for event in events:
        turn.answers.append(_RULES[type(event)](turn, event))
        begin_woken(turn)
    return _decided(turn)


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
    turn = DecisionState(flow, snapshot, now)
    for event in events:
        turn.answers.append(_RULES[type(event)](turn, event))
        begin_woken(turn)
    turn.attempts[:0] = left
    done = 0
    while turn.attempts and not turn.unfinished and done < MAX_INLINE_ATTEMPTS:
        attempts, turn.attempts = turn.attempts, []
        for attempt in attempts:
            if _is_wanted(turn, attempt):
                report(turn, Reported(attempt.firing, attempt.index, attempt.attempt, do(attempt)))
                begin_woken(turn)
        done += len(attempts)
    return _decided(turn)


def _is_wanted(turn: DecisionState, attempt: Attempt) -> bool:
    """Whether nothing that was done before it has withdrawn it."""
    element = turn.elements.get((attempt.firing, attempt.index))
    return element is not None and element.attempt == attempt.attempt and element.state == "running"


def _decided(turn: DecisionState) -> Plan:
    settle(turn)
    if turn.ending is not None and not turn.ended:  # a failure that was put off may have begun the clean-up
        begin_woken(turn)
        settle(turn)
    return turn.plan()


def _begin(turn: DecisionState, begun: Begun) -> Answer:
    """R6: START is fired and carries the input."""
    if not set_out(turn, begun.tags):
        return "duplicate"
    put_event(turn, START, Origin(turn.was.run.input, turn.tags, turn.now))
    return "accepted"


def _outside(turn: DecisionState, event: Outside) -> Answer:
    """An event from outside: acted on once unless it is `many`, recorded otherwise."""
    declared = turn.flow.outside.get(event.event)
    if declared is None:
        return "refused"
    if event.id is not None and not event.once:
        if event.id in turn.seen:
            return "duplicate"
        turn.seen = turn.seen.set(event.id, turn.seq + 1)
    times = turn.came.get(event.event, 0)
    if turn.ended or (times and not declared.many):
        reason = "the run has ended" if turn.ended else "it came before"
        data = {"data": event.data, "id": event.id, "reason": reason}
        turn.record("withdrawn", event=event.event, data=data)
        return "recorded"
    turn.came = turn.came.set(event.event, times + 1)
    if event.set is not None:
        apply_set(turn, event.set, None, None)
    origin = Origin(event.data, NO_TAGS, turn.now, None, outside=True, id=event.id)
    put_event(turn, event.event, origin)
    return "accepted"


def _granted(turn: DecisionState, granted: Granted) -> Answer:
    element = turn.elements.get((granted.firing, granted.index))
    if element is None or element.state != "key":
        return "superseded"
    dispatch(turn, turn.step_of(element), turn.firings[element.firing], element)
    return "accepted"


def _timer_fired(turn: DecisionState, rang: Rang) -> Answer:
    element = turn.elements.get((rang.firing, rang.index))
    if element is None or element.attempt != rang.attempt:
        return "superseded"
    step, firing = turn.step_of(element), turn.firings[element.firing]
    if element.state == "backoff":
        dispatch(turn, step, firing, element)
    elif element.state == "sleep":
        finish_element(turn, step, firing, element, "done", element.output)
    else:
        return "superseded"
    return "accepted"


def _remind(turn: DecisionState, reminded: Reminded) -> Answer:
    element = turn.elements.get((reminded.firing, reminded.index))
    if element is None or element.attempt != reminded.attempt or element.state != "parked":
        return "superseded"
    data = {"reminded": True, "parked": "approval", "index": element.index}
    turn.record("attempt", element.step, attempt=element.attempt, data=data, firing=element.firing)
    return "accepted"


def _run_timed_out(turn: DecisionState, rang: RunTimedOut) -> Answer:
    if turn.ended or turn.ending is not None or rang.epoch != turn.epoch:
        return "superseded"
    limit = "" if turn.flow.timeout is None else f" of {format_duration(turn.flow.timeout)}"
    message = f"the run outlived its timeout{limit}"
    end_early(turn, TIMEOUT, None, Failure("timeout", message))
    return "accepted"


def _cleanup_timed_out(turn: DecisionState, rang: CleanupTimedOut) -> Answer:
    if turn.ended or turn.ending is None or rang.epoch != turn.epoch:
        return "superseded"
    finish_run(turn, turn.ending)
    return "accepted"


def _cancel(turn: DecisionState, canceled: Canceled) -> Answer:
    if turn.ended:
        return "refused"
    if canceled.force:
        if turn.ending is None:
            turn.ending = "canceled"
        finish_run(turn, turn.ending)
    else:
        end_early(turn, CANCEL, {"reason": canceled.reason}, None)
    return "accepted"


def _pause(turn: DecisionState, paused: Paused) -> Answer:
    if turn.ended or paused.by in turn.paused:
        return "refused" if turn.ended else "duplicate"
    if not turn.paused:
        turn.record("paused", data=None if paused.by == "run" else {"by": paused.by})
    turn.paused = (*turn.paused, paused.by)
    return "accepted"


def _resume(turn: DecisionState, resumed: Resumed) -> Answer:
    if turn.ended or resumed.by not in turn.paused:
        return "refused" if turn.ended else "duplicate"
    turn.paused = tuple(by for by in turn.paused if by != resumed.by)
    if turn.paused:
        return "accepted"
    turn.record("resumed", data=None if resumed.by == "run" else {"by": resumed.by})
    held = sorted(
        (element.firing, element.index or 0, element)
        for element in turn.elements.values()
        if element.state == "paused"
    )
    for _number, _index, element in held:
        dispatch(turn, turn.step_of(element), turn.firings[element.firing], element)
    if turn.ending is None:
        wake_all(turn)
    return "accepted"


def _retry(turn: DecisionState, retried: Retried) -> Answer:
    answer = retry(turn, retried)
    if answer == "accepted":
        wake_all(turn)
    return answer


def _continue(turn: DecisionState, _: Continued) -> Answer:
    go_on(turn)
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
