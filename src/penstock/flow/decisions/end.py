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
    decision: DecisionState, event: str, data: Any, error: Failure | None, by: str | None = None
) -> None:
    """FAIL, CANCEL or TIMEOUT, whichever is first: all firings are withdrawn, then the clean-up begins."""
    if decision.ended or decision.ending is not None:
        return
    decision.ending = ENDINGS[event]
    decision.error = error
    withdraw_all(decision, f"the run {_WORDS[event]}", keep=event == FAIL)
    put_event(decision, event, Origin(data, decision.tags, decision.now, by))
    decision.agenda = ()
    if event in decision.flow.wiring.takers:
        _wake_takers(decision, event)
        decision.status = "running"
        decision.timers += (
            Timer(decision.now + decision.flow.cleanup_timeout, CleanupTimedOut(decision.epoch)),
        )
    else:
        finish_run(decision, decision.ending)


def _wake_takers(decision: DecisionState, event: str) -> None:
    """A slot `x | FAIL` that held an x already is not filled anew by the end, and its step is due all the same."""
    for slot in decision.flow.wiring.takers[event]:
        if decision.marking.enabled(decision.flow.wiring.steps[slot.step]):
            decision.marking.woken.append(slot.step)


def withdraw_all(decision: DecisionState, reason: str, keep: bool = False) -> None:
    """Withdraw every firing; `keep` remembers them for `retry`. Complete sets that wait do not begin anew."""
    for number in sorted(decision.firings):
        firing = decision.firings[number]
        withdraw_firing(decision, firing, reason)
        if keep:
            decision.halted = decision.halted.set(number, firing)
    decision.marking.woken.clear()


def finish_run(decision: DecisionState, status: Status) -> None:
    """The run has ended."""
    withdraw_all(decision, "the run has ended")
    if status == "succeeded":
        status = _compute_result(decision, status)
    decision.status = status
    decision.ended = True
    decision.ended_at = decision.now
    decision.record("run_ended", data={"status": status})


def _compute_result(decision: DecisionState, status: Status) -> Status:
    expression = decision.flow.result
    if expression is None:
        decision.result = decision.data
        return status
    scope = {
        "run": run_variable(decision.was.run),
        "data": decision.data,
        "tags": visible(decision.tags),
        "steps": steps_variable(decision.steps, expression),
        "now": decision.now,
    }
    try:
        decision.result = expression(scope)
    except EvaluationError as error:
        decision.error = Failure("expression", f"`result`: {error}")
        return "failed"
    return status


_WORDS = {FAIL: "failed", CANCEL: "was canceled", TIMEOUT: "timed out"}
