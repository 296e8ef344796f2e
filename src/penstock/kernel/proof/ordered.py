"""The search where order decides: a join that takes inside and outside events from one slot takes the older first.

Counts do not know which came first, so the search over counts may find a standstill that no run can reach. Here
the kernel itself fires, with its queues: slower, and exact. Only nets that have such a slot come here (S18).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from penstock.kernel.firing import Board, begin
from penstock.kernel.marking import Marking, Token
from penstock.kernel.net import ENDINGS, OK, Exit, Net
from penstock.kernel.proof.analysis import Deadlock
from penstock.kernel.proof.search import Budget
from penstock.kernel.proof.structure import ends_run
from penstock.kernel.proof.trace import Event, Fire, Trace
from penstock.kernel.wiring import WiredSlot, WiredStep, Wiring

MOST = 20_000


class Moment(NamedTuple):
    """A state with its queues, and how it came about."""

    marking: Marking
    ok: bool
    put_off: bool
    came: frozenset[str]
    trace: Trace


class Answer(NamedTuple):
    """A shortest standstill, if there is one; `complete` says whether all was seen."""

    deadlock: Deadlock | None
    complete: bool
    states: int


def order_matters(net: Net) -> bool:
    """Whether what a firing takes depends on what came first; cancel regions and keys are left to the counts."""
    outside = set(net.outside_names())
    choosy = any(
        slot.keep
        or (
            len(step.slots) > 1
            and not slot.need
            and outside & set(slot.events)
            and set(slot.events) - outside
        )
        for step in net.steps
        for slot in step.slots
    )
    return choosy and not any(step.cancels or step.keyed for step in net.steps)


def search_in_order(net: Net, budget: Budget) -> Answer:
    """Breadth first over the real queues."""
    wiring = Wiring(net)
    first = Moment(begin(wiring), False, False, frozenset(), ())
    seen, todo = {_shape(first)}, deque([first])
    while todo:
        if len(seen) > min(MOST, budget.states) or budget.out_of_time():
            return Answer(None, False, len(seen))
        moment = todo.popleft()
        board = Board(wiring, moment.marking)
        ready = [step for step in wiring.steps if board.enabled(step)]
        if not ready and _stalled(wiring, moment):
            return Answer(Deadlock(moment.trace, _starving(wiring, moment.marking)), True, len(seen))
        for after in _after(wiring, moment, ready):
            if _shape(after) not in seen:
                seen.add(_shape(after))
                todo.append(after)
    return Answer(None, True, len(seen))


def _after(wiring: Wiring, moment: Moment, ready: list[WiredStep]) -> list[Moment]:
    found = [
        _fired(wiring, moment, step, way)
        for step in ready
        for way in wiring.net.by_name[step.name].exits
        if not ends_run(way)
    ]
    if ready or not (moment.ok or moment.put_off):
        found += [
            _arrived(wiring, moment, event.name)
            for event in wiring.net.outside
            if event.name not in moment.came
        ]
    return found


def _fired(wiring: Wiring, moment: Moment, step: WiredStep, way: Exit) -> Moment:
    board = Board(wiring, moment.marking)
    board.take(step)
    for name in way.fires:
        if name not in ENDINGS:
            board.put(Token(0, name))
    trace = (*moment.trace, Fire(step.name, way.port))
    return Moment(
        board.marking(), moment.ok or OK in way.fires, moment.put_off or way.put_off, moment.came, trace
    )


def _arrived(wiring: Wiring, moment: Moment, name: str) -> Moment:
    board = Board(wiring, moment.marking)
    board.put(Token(0, name, load=True))
    trace = (*moment.trace, Event(name))
    return moment._replace(marking=board.marking(), came=moment.came | {name}, trace=trace)


def _stalled(wiring: Wiring, moment: Moment) -> bool:
    """R8 for a state in which no step is enabled."""
    if moment.ok or moment.put_off:
        return False
    board = Board(wiring, moment.marking)
    for event in wiring.net.outside:
        if not event.optional and (event.many or event.name not in moment.came):
            board.put(Token(0, event.name))
    if board.woken:
        return False
    inside = any(not token.load for queue in moment.marking.tokens.values() for token in queue)
    return wiring.net.names_ok or inside


def _starving(wiring: Wiring, marking: Marking) -> dict[str, tuple[str, ...]]:
    found = {}
    for step in wiring.steps:
        missing = [slot for slot in step.slots if not _holds(slot, marking)]
        if missing and any(slot.index in marking.tokens for slot in step.slots):
            found[step.name] = tuple(dict.fromkeys(name for slot in missing for name in slot.events))
    return found


def _holds(slot: WiredSlot, marking: Marking) -> bool:
    names = {token.name for token in marking.tokens.get(slot.index, ())}
    return len(names) >= (slot.need or 1)


def _shape(moment: Moment) -> object:
    """What tells states apart: the queues by name and origin, the debts, the flags."""
    queues = frozenset(
        (place, tuple((token.name, bool(token.load)) for token in queue))
        for place, queue in moment.marking.tokens.items()
    )
    return queues, moment.marking.owed, moment.ok, moment.put_off, moment.came
