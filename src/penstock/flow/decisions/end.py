"""How a run ends: early, with a clean-up, through FAIL, CANCEL or TIMEOUT; or at rest (R6)."""

from __future__ import annotations

from typing import Any

from penstock.expression import EvaluationError
from penstock.flow.decisions.emit import put_event
from penstock.flow.decisions.scope import run_variable, steps_variable
from penstock.flow.decisions.state import DecisionState
from penstock.flow.decisions.withdraw import withdraw_firing
from penstock.flow.model.plan import Timer
from penstock.flow.model.run import Ending, Failure, Origin, Status
from penstock.flow.model.run_input import CleanupTimedOut
from penstock.flow.model.tags import visible
from penstock.kernel.net import CANCEL, FAIL, TIMEOUT

ENDINGS: dict[str, Ending] = {FAIL: "failed", CANCEL: "canceled", TIMEOUT: "timed_out"}


def end_early(
    turn: DecisionState, event: str, data: Any, error: Failure | None, by: str | None = None
) -> None:
    """FAIL, CANCEL or TIMEOUT, whichever is first: all firings are withdrawn, then the clean-up begins."""
    if turn.ended or turn.ending is not None:
        return
    turn.ending = ENDINGS[event]
    turn.error = error
    withdraw_all(turn, f"the run {_WORDS[event]}", keep=event == FAIL)
    put_event(turn, event, Origin(data, turn.tags, turn.now, by))
    turn.agenda = ()
    if event in turn.flow.wiring.takers:
        _wake_takers(turn, event)
        turn.status = "running"
        turn.timers += (Timer(turn.now + turn.flow.cleanup_timeout, CleanupTimedOut(turn.epoch)),)
    else:
        finish_run(turn, turn.ending)


def _wake_takers(turn: DecisionState, event: str) -> None:
    """A slot `x | FAIL` that held an x already is not filled anew by the end, and its step is due all the same."""
    for slot in turn.flow.wiring.takers[event]:
        if turn.board.enabled(turn.flow.wiring.steps[slot.step]):
            turn.board.woken.append(slot.step)


def withdraw_all(turn: DecisionState, reason: str, keep: bool = False) -> None:
    """Withdraw every firing; `keep` remembers them for `retry`. Complete sets that wait do not begin anew."""
    for number in sorted(turn.firings):
        firing = turn.firings[number]
        withdraw_firing(turn, firing, reason)
        if keep:
            turn.halted = turn.halted.set(number, firing)
    turn.board.woken.clear()


def finish_run(turn: DecisionState, status: Status) -> None:
    """The run has ended."""
    withdraw_all(turn, "the run has ended")
    if status == "succeeded":
        status = _compute_result(turn, status)
    turn.status = status
    turn.ended = True
    turn.ended_at = turn.now
    turn.record("run_ended", data={"status": status})


def _compute_result(turn: DecisionState, status: Status) -> Status:
    expression = turn.flow.result
    if expression is None:
        turn.result = turn.data
        return status
    scope = {
        "run": run_variable(turn.was.run),
        "data": turn.data,
        "tags": visible(turn.tags),
        "steps": steps_variable(turn.steps, expression),
        "now": turn.now,
    }
    try:
        turn.result = expression(scope)
    except EvaluationError as error:
        turn.error = Failure("expression", f"`result`: {error}")
        return "failed"
    return status


_WORDS = {FAIL: "failed", CANCEL: "was canceled", TIMEOUT: "timed out"}
