"""A person helps a run: retry what failed, switch a step off for this run (R9, R13)."""

from __future__ import annotations

from penstock.flow.compile import Flow
from penstock.flow.occurrence import Disabled, Retried, RunTimedOut
from penstock.flow.plan import Answer, Timer
from penstock.flow.run import Firing
from penstock.flow.turn import Turn
from penstock.kernel.firing import Board


def retry(turn: Turn, retried: Retried) -> Answer:
    """R13: put back what failed and withdrawn firings consumed; the run is running again."""
    if turn.status != "failed":
        return "refused"
    firings = [firing for _, firing in sorted(turn.failed.items()) if retried.step in (None, firing.step)]
    if not firings:
        return "refused"
    turn.ended, turn.status = False, "running"
    turn.ending = turn.error = turn.ended_at = turn.put_off = turn.result = None
    turn.epoch += 1
    turn.correlations += sorted(turn.keys, key=turn.keys.__getitem__)  # given back when the run ended
    turn.record("repaired", retried.step, data={"retry": [firing.number for firing in firings]})
    forget_failures(turn.flow, turn.board, {firing.number for firing in firings})
    for firing in firings:
        turn.failed = turn.failed.delete(firing.number)
        turn.board.put_back(turn.step_of(firing).wired, firing.taken)
        _keep_elements(turn, firing)
    if turn.flow.timeout is not None:
        turn.timers.append(Timer(turn.now + turn.flow.timeout, RunTimedOut(turn.epoch)))
    return "accepted"


def forget_failures(flow: Flow, board: Board, firings: set[int]) -> None:
    """The failure events of a retried firing that still wait would send it straight back to its handlers."""
    marking = board.look()
    stale = [
        (flow.wiring.slots[place if isinstance(place, int) else place[0]], token)
        for place, tokens in marking.tokens.items()
        for token in tokens
        if token.load.firing in firings
    ]
    for slot, token in stale:
        board.remove(slot, token.number)


def _keep_elements(turn: Turn, firing: Firing) -> None:
    """Finished elements of an `each` are not run again."""
    if firing.total is not None:
        consumed = tuple(token.number for token in firing.taken.tokens())
        turn.kept = turn.kept.set(consumed, firing.number)


def disable(turn: Turn, wish: Disabled) -> Answer:
    """R9 for one run: the step ends on a port at once, or works again."""
    step = turn.flow.steps.get(wish.step)
    if turn.ended or step is None or (wish.port is not None and wish.port not in step.ports):
        return "refused"
    turn.disabled = turn.disabled.set(wish.step, wish.port or "")
    turn.record("repaired", wish.step, data={"disabled": wish.port})
    return "accepted"
