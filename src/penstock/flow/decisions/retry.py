"""A person helps a run: retry what failed, switch a step off for this run (R9, R13)."""

from __future__ import annotations

from typing import TypeVar

from immutables import Map

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Answer, Timer
from penstock.flow.model.run import Pauser
from penstock.flow.model.run_input import Disabled, Retried, RunTimedOut
from penstock.kernel.firing import MutableMarking
from penstock.kernel.net import FAIL

T = TypeVar("T")


def retry(decision: DecisionState, retried: Retried) -> Answer:
    """R13: put back what failed and withdrawn firings consumed; the run is running again."""
    if decision.status != "failed":
        return "refused"
    chosen = [firing for firing in decision.failed.values() if retried.step in (None, firing.step)]
    firings = sorted((*chosen, *decision.halted.values()), key=lambda firing: firing.number)
    if not firings or (retried.step is not None and not chosen):
        return "refused"
    decision.ended, decision.status = False, "running"
    decision.ending = decision.error = decision.ended_at = decision.result = None
    decision.epoch += 1
    # Given back when the run ended.
    decision.correlations += tuple(sorted(decision.keys, key=decision.keys.__getitem__))
    decision.record("repaired", retried.step, data={"retry": [firing.number for firing in firings]})
    if retried.paused is not None:
        _renew_pauses(decision, retried.paused)
    forget_failures(decision.flow, decision.marking, {firing.number for firing in firings})
    decision.halted = Map()
    for firing in firings:
        decision.failed = without(decision.failed, firing.number)
        decision.put_off = without(decision.put_off, firing.number)
        decision.marking.put_back(decision.step_of(firing).wired, firing.taken)
        if firing.total is not None:  # finished elements of an `each` are not run again
            consumed = tuple(token.number for token in firing.taken.tokens())
            decision.reused = decision.reused.set(consumed, firing)
    if decision.flow.timeout is not None:
        decision.timers += (Timer(decision.now + decision.flow.timeout, RunTimedOut(decision.epoch)),)
    return "accepted"


def _renew_pauses(decision: DecisionState, wider: tuple[Pauser, ...]) -> None:
    """Nobody told the run of pauses while it was over; its own stays until somebody resumes it."""
    was, decision.paused = decision.paused, (*(by for by in decision.paused if by == "run"), *wider)
    if bool(was) != bool(decision.paused):
        by = (decision.paused or was)[0]
        decision.record("paused" if decision.paused else "resumed", data={"by": by})


def without(map: Map[int, T], key: int) -> Map[int, T]:
    return map.delete(key) if key in map else map


def forget_failures(flow: Flow, marking: MutableMarking, firings: set[int]) -> None:
    """Withdraw what is left of the failure: its events would send a retried firing straight back to its handlers."""
    now = marking.look()
    stale = [
        (flow.wiring.slots[place if isinstance(place, int) else place[0]], token)
        for place, tokens in now.tokens.items()
        for token in tokens
        if token.load.firing in firings or token.name == FAIL
    ]
    for slot, token in stale:
        marking.remove(slot, token.number)


def disable(decision: DecisionState, request: Disabled) -> Answer:
    """R9 for one run: the step ends on a port at once, or works again."""
    step = decision.flow.steps.get(request.step)
    if decision.ended or step is None or (request.port is not None and request.port not in step.ports):
        return "refused"
    decision.disabled = decision.disabled.set(request.step, request.port or "")
    decision.record("repaired", request.step, data={"disabled": request.port})
    return "accepted"
