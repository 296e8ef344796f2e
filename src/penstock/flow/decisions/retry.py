"""A person helps a run: retry what failed, switch a step off for this run (R9, R13)."""

from __future__ import annotations

from typing import TypeVar

from immutables import Map

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Answer, Timer
from penstock.flow.model.run import Firing, Pauser
from penstock.flow.model.run_input import Disabled, Retried, RunTimedOut
from penstock.kernel.firing import MutableMarking
from penstock.kernel.net import FAIL

T = TypeVar("T")


def retry(turn: DecisionState, retried: Retried) -> Answer:
    """R13: put back what failed and withdrawn firings consumed; the run is running again."""
    if turn.status != "failed":
        return "refused"
    chosen = [firing for firing in turn.failed.values() if retried.step in (None, firing.step)]
    firings = sorted((*chosen, *turn.halted.values()), key=lambda firing: firing.number)
    if not firings or (retried.step is not None and not chosen):
        return "refused"
    turn.ended, turn.status = False, "running"
    turn.ending = turn.error = turn.ended_at = turn.result = None
    turn.epoch += 1
    turn.correlations += tuple(sorted(turn.keys, key=turn.keys.__getitem__))  # given back when the run ended
    turn.record("repaired", retried.step, data={"retry": [firing.number for firing in firings]})
    if retried.paused is not None:
        _renew_pauses(turn, retried.paused)
    forget_failures(turn.flow, turn.board, {firing.number for firing in firings})
    turn.halted = Map()
    for firing in firings:
        turn.failed, turn.put_off = without(turn.failed, firing.number), without(turn.put_off, firing.number)
        turn.board.put_back(turn.step_of(firing).wired, firing.taken)
        _keep_elements(turn, firing)
    if turn.flow.timeout is not None:
        turn.timers += (Timer(turn.now + turn.flow.timeout, RunTimedOut(turn.epoch)),)
    return "accepted"


def _renew_pauses(turn: DecisionState, wider: tuple[Pauser, ...]) -> None:
    """Nobody told the run of pauses while it was over; its own stays until somebody resumes it."""
    was, turn.paused = turn.paused, (*(by for by in turn.paused if by == "run"), *wider)
    if bool(was) != bool(turn.paused):
        by = (turn.paused or was)[0]
        turn.record("paused" if turn.paused else "resumed", data={"by": by})


def without(map: Map[int, T], key: int) -> Map[int, T]:
    return map.delete(key) if key in map else map


def forget_failures(flow: Flow, board: MutableMarking, firings: set[int]) -> None:
    """Withdraw what is left of the failure: its events would send a retried firing straight back to its handlers."""
    marking = board.look()
    stale = [
        (flow.wiring.slots[place if isinstance(place, int) else place[0]], token)
        for place, tokens in marking.tokens.items()
        for token in tokens
        if token.load.firing in firings or token.name == FAIL
    ]
    for slot, token in stale:
        board.remove(slot, token.number)


def _keep_elements(turn: DecisionState, firing: Firing) -> None:
    """Finished elements of an `each` are not run again."""
    if firing.total is not None:
        consumed = tuple(token.number for token in firing.taken.tokens())
        turn.kept = turn.kept.set(consumed, firing)


def disable(turn: DecisionState, wish: Disabled) -> Answer:
    """R9 for one run: the step ends on a port at once, or works again."""
    step = turn.flow.steps.get(wish.step)
    if turn.ended or step is None or (wish.port is not None and wish.port not in step.ports):
        return "refused"
    turn.disabled = turn.disabled.set(wish.step, wish.port or "")
    turn.record("repaired", wish.step, data={"disabled": wish.port})
    return "accepted"
