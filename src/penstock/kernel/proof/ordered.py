"""The net as the engine runs it: real queues, and a step that may begin does begin. Slow, and exact.

The search over counts does not know which event came first. A standstill that it finds is therefore played here before
anybody sees it, and searched for again where the play does not come to it (S18).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import EMPTY, Marking, Token
from penstock.kernel.net import ENDINGS, OK, START, Net, Step, WiredSlot, Wiring
from penstock.kernel.proof.analysis import Answer, Deadlock, Leftover
from penstock.kernel.proof.search import Budget
from penstock.kernel.proof.structure import ends_run
from penstock.kernel.proof.trace import Event, Fire, Trace

MAX_STATES = 20_000
PLAYED_ROUNDS = 5


class Moment(NamedTuple):
    """A state of a run between two things that happen to it."""

    marking: Marking
    running: tuple[int, ...] = ()  # steps whose firing has begun
    ok: bool = False
    put_off: bool = False
    came: frozenset[str] = frozenset()
    trace: Trace = ()
    events: int = 0  # fired so far: a queue tells its events apart by their numbers


def begin_run(wiring: Wiring) -> Moment:
    return _put(wiring, Moment(EMPTY), [START])


def standstill(wiring: Wiring, trace: Trace) -> Deadlock | None:
    """The standstill to which a trace leads when it is played; None where it does not lead to one."""
    moment = _play(wiring, trace)
    if moment is None or not _stalled(wiring, moment):
        return None
    return Deadlock(trace, _starving(wiring, moment.marking))


def left_at(wiring: Wiring, trace: Trace) -> frozenset[str]:
    """The steps at which events of the run wait after a trace that is played and comes to rest."""
    moment = _play(wiring, trace)
    if moment is None or moment.running:
        return frozenset()
    return frozenset(
        step.name
        for step in wiring.steps
        for slot in step.slots
        if any(not token.load for token in moment.marking.tokens.get(slot.index, ()))
    )


def _play(wiring: Wiring, trace: Trace, moment: Moment | None = None) -> Moment | None:
    moment = moment or begin_run(wiring)
    for item in trace:
        moment = None if moment is None else _move(wiring, moment, item)
    return moment


def piles_up(net: Net, prefix: Trace, trace: Trace, step: str) -> bool:
    """Whether each further turn of a loop, which ends the trace, leaves more at the step when it is played."""
    wiring, turn, counts = Wiring(net), trace[len(prefix) :], []
    moment = _play(wiring, trace)
    for _ in range(PLAYED_ROUNDS):
        if moment is None:
            return False
        tokens = moment.marking.tokens
        counts.append(sum(len(tokens.get(slot.index, ())) for slot in wiring.by_name[step].slots))
        moment = _play(wiring, turn, moment)
    return all(before < after for before, after in pairwise(counts))


def search_in_order(wiring: Wiring, budget: Budget) -> Answer[Deadlock | None]:
    """Breadth first over all that can happen, so that the first standstill is a shortest one."""
    seen: set[object] = set()
    for moment in _moments(wiring, budget, seen):
        if moment is None:
            return Answer(None, False, len(seen))
        if _stalled(wiring, moment):
            return Answer(Deadlock(moment.trace, _starving(wiring, moment.marking)), True, len(seen))
    return Answer(None, True, len(seen))


def search_left_over(
    wiring: Wiring, budget: Budget, joins: Callable[[Step], bool]
) -> Answer[Leftover | None]:
    """The same for a success that leaves events of the run at a join."""
    seen: set[object] = set()
    for moment in _moments(wiring, budget, seen):
        if moment is None:
            return Answer(None, False, len(seen))
        if moment.running or not moment.ok or moment.put_off:
            continue
        for step in filter(joins, wiring.net.steps):
            slots = wiring.by_name[step.name].slots
            left = [token for slot in slots for token in moment.marking.tokens.get(slot.index, ())]
            names = tuple(dict.fromkeys(token.name for token in left if not token.load))
            if names:
                return Answer(Leftover(moment.trace, step.name, names), True, len(seen))
    return Answer(None, True, len(seen))


def _moments(wiring: Wiring, budget: Budget, seen: set[object]) -> Iterator[Moment | None]:
    """Every moment that a run can come to, the nearest first; None where the budget is spent."""
    first = begin_run(wiring)
    seen.add(_shape(first))
    todo = deque([first])
    while todo:
        if len(seen) > min(MAX_STATES, budget.states) or budget.out_of_time():
            yield None
            return
        moment = todo.popleft()
        yield moment
        for item in _items(wiring, moment):
            after = _move(wiring, moment, item)
            if after is not None and _shape(after) not in seen:
                seen.add(_shape(after))
                todo.append(after)


def _items(wiring: Wiring, moment: Moment) -> list[Event | Fire]:
    """What can happen next: a firing ends on one of its exits, or an outside event comes."""
    steps = [wiring.net.steps[index] for index in dict.fromkeys(moment.running)]
    ends: list[Event | Fire] = [Fire(step.name, way.port) for step in steps for way in step.exits]
    return ends + [Event(event.name) for event in wiring.net.outside]


def _move(wiring: Wiring, moment: Moment, item: Event | Fire) -> Moment | None:
    """The moment after; None where that cannot happen, or ends the run."""
    if _over(wiring, moment):
        return None
    if isinstance(item, Event):
        return _arrive(wiring, moment, item)
    step = wiring.by_name[item.step]
    way = next((way for way in wiring.net.by_name[item.step].exits if way.port == item.port), None)
    if way is None or step.index not in moment.running or ends_run(way):
        return None
    running = list(moment.running)
    running.remove(step.index)
    after = moment._replace(
        running=tuple(running),
        ok=moment.ok or OK in way.fires,
        put_off=moment.put_off or way.put_off,
        trace=(*moment.trace, item),
    )
    return _put(wiring, after, [name for name in way.fires if name not in ENDINGS], step.index)


def _arrive(wiring: Wiring, moment: Moment, item: Event) -> Moment | None:
    event = next((event for event in wiring.net.outside if event.name == item.name), None)
    if event is None or (item.name in moment.came and not event.many):
        return None
    after = moment._replace(came=moment.came | {item.name}, trace=(*moment.trace, item))
    return _put(wiring, after, [item.name], outside=True, empty_only=item.name in moment.came)


def _put(
    wiring: Wiring,
    moment: Moment,
    names: list[str],
    ended: int | None = None,
    outside: bool = False,
    empty_only: bool = False,
) -> Moment:
    """Put events into the slots and begin every step that they enable, one firing of a step at a time."""
    board = MutableMarking(wiring, moment.marking)
    running = list(moment.running)
    if ended is not None and board.enabled(wiring.steps[ended]):
        board.woken.append(ended)
    for number, name in enumerate(names, moment.events):
        for slot in wiring.takers.get(name, ()):
            if not empty_only or not _holds(board, slot, name):
                board.add(slot, Token(number, name, load=outside), None)
    for index in board.woken:
        step = wiring.steps[index]
        if index not in running and board.enabled(step):
            board.take(step)
            running.append(index)
            for other in step.cancels:
                board.clear(wiring.steps[other])
                running = [each for each in running if each != other or each == index]
    fired = moment.events + len(names)
    return moment._replace(marking=board.marking(), running=tuple(sorted(running)), events=fired)


def _holds(marking: MutableMarking, slot: WiredSlot, name: str) -> bool:
    """Whether a further coming of an event finds its place taken."""
    queue = marking.tokens.get(slot.index, ())
    return any(token.name == name for token in queue) if slot.need and not slot.keep else bool(queue)


def _over(wiring: Wiring, moment: Moment) -> bool:
    """R8: nothing moves, and the run has failed or succeeded."""
    if moment.running:
        return False
    if moment.ok or moment.put_off:
        return True
    return not wiring.net.names_ok and not _outside_helps(wiring, moment) and not _inside_waits(moment)


def _stalled(wiring: Wiring, moment: Moment) -> bool:
    """R8: nothing moves, nothing that may come would help, and the run is not over."""
    resting = not moment.running and not moment.ok and not moment.put_off
    return resting and not _outside_helps(wiring, moment) and (wiring.net.names_ok or _inside_waits(moment))


def _outside_helps(wiring: Wiring, moment: Moment) -> bool:
    board = MutableMarking(wiring, moment.marking)
    for event in wiring.net.outside:
        if not event.optional and (event.many or event.name not in moment.came):
            debts = [owed for (_, name), owed in moment.marking.owed.items() if name == event.name]
            for _ in range(1 + max([0, *debts]) if event.many else 1):
                board.put(Token(0, event.name))
    return bool(board.woken)


def _inside_waits(moment: Moment) -> bool:
    return any(not token.load for queue in moment.marking.tokens.values() for token in queue)


def _starving(wiring: Wiring, marking: Marking) -> dict[str, tuple[str, ...]]:
    found = {}
    for step in wiring.steps:
        missing = [name for slot in step.slots for name in _missing(slot, marking)]
        if missing and any(slot.index in marking.tokens for slot in step.slots):
            found[step.name] = tuple(dict.fromkeys(missing))
    return found


def _missing(slot: WiredSlot, marking: Marking) -> list[str]:
    """The events that a slot still waits for."""
    names = {token.name for token in marking.tokens.get(slot.index, ())}
    return [] if len(names) >= (slot.need or 1) else [name for name in slot.events if name not in names]


def _shape(moment: Moment) -> object:
    """What tells moments apart: the queues by name and origin, the debts, what runs, the flags."""
    queues = frozenset(
        (place, tuple((token.name, bool(token.load)) for token in queue))
        for place, queue in moment.marking.tokens.items()
    )
    return queues, moment.marking.owed, moment.running, moment.ok, moment.put_off, moment.came
