"""From a state that a search found to the trace that is told: shortest where it can be had, always replayed."""

from __future__ import annotations

from collections.abc import Callable

from penstock.kernel.proof.machine import Machine, State
from penstock.kernel.proof.replay import replay, shown
from penstock.kernel.proof.search import Budget, Space, plain_search
from penstock.kernel.proof.trace import Fire, Trace

SHORTEST = 5_000  # states spent on a shortest trace once one is known to exist


def tell_firing(
    whole: Machine,
    space: Space,
    last: Callable[[State], Fire],
    keeps: Callable[[Trace], bool],
    budget: Budget,
) -> Trace | None:
    """A trace to the goal that `space` has met, closed by the firing it allows; `keeps` says what must stay in it."""
    short = plain_search(space.machine, budget._replace(states=SHORTEST), edges=False, goal=space.plan.goal)
    best = short if short.found is not None else space
    assert best.found is not None
    told = proved(whole, (*best.trace(best.found), last(best.states[best.found])))
    return told if best is short or told is None else trimmed(whole, told, keeps, budget.out_of_time)


def proved(whole: Machine, trace: Trace) -> Trace | None:
    """The trace, if it can be replayed; a debt that was counted too low may have led astray (S4)."""
    return shown(whole, trace, lambda machine, state: True)


def trimmed(
    whole: Machine, trace: Trace, keeps: Callable[[Trace], bool], out_of_time: Callable[[], bool]
) -> Trace:
    """The trace without the firings and events that its last one does not depend on."""
    number = len(trace) - 2
    while number >= 0 and not out_of_time():
        shorter = trace[:number] + trace[number + 1 :]
        if keeps(shorter) and replay(whole, shorter):
            trace = shorter
        number -= 1
    return trace
