"""The proof: what can go wrong in any run of a net, found before it runs. docs/spec/soundness.md has its rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from penstock.kernel.net import ENDINGS, FAIL, Net, Step, Wiring
from penstock.kernel.proof.analysis import Analysis, Answer, Deadlock, Leftover, Unbounded
from penstock.kernel.proof.counterexample import SHORTEST, proved
from penstock.kernel.proof.machine import (
    LEAST_OWED,
    Machine,
    Scope,
    State,
    choices,
    every_exit,
    left_over,
    meaning_of_rest,
    starving,
)
from penstock.kernel.proof.mistakes import (
    CleanUp,
    drawn_alive,
    fail_without_failure,
    fires_twice,
    search_cleanups,
    trace_to_fail,
)
from penstock.kernel.proof.ordered import left_at, piles_up, search_in_order, search_left_over, standstill
from penstock.kernel.proof.replay import at_rest, replay, shown
from penstock.kernel.proof.search import Budget, Shape, Space, can_reach, plain_search, shape_of, survey
from penstock.kernel.proof.trace import Event, Fire, Trace

NEVER = -(10**6)  # a debt so deep that nothing ever comes of that name
FIRST_ROUNDS = 3  # of a loop, of which the first may differ from all later ones
MAX_CHOICES = 2_000  # moves that differ in what a firing takes; more are not listed, whatever the budget
MAX_NUMBERS = 20_000_000  # in all states that are kept: a net with thousands of places would take gigabytes


class Main(NamedTuple):
    """The search of the run itself, up to its end."""

    net: Net
    whole: Machine
    shape: Shape
    space: Space
    budget: Budget

    @property
    def alive(self) -> frozenset[int]:
        return _alive(self.space)

    @property
    def can_fail(self) -> bool:
        return any(FAIL in self.space.machine.rules[rule].ends for rule in self.space.alive)


def analyse(net: Net, *, states: int = 200_000, out_of_time: Callable[[], bool] = lambda: False) -> Analysis:
    """Every fact about the net that the budget allows; `complete` says whether that is all of them."""
    if choices(net) > MAX_CHOICES:
        return _unsearched(net)
    shape = shape_of(net)
    machine = Machine(net, Scope(drop_put_off=not shape.turning))
    budget = Budget(min(states, MAX_NUMBERS // len(machine.initial)), out_of_time)
    main = Main(net, every_exit(net), shape, survey(machine, shape, budget), budget)
    cleanups = search_cleanups(net, main.can_fail, main.alive, budget)
    unasked = fail_without_failure(net, main.whole, budget)
    twice = fires_twice(net, main.whole, main.alive, shape, budget)
    ordered, leftover = _in_order(main), _leftover(main)
    searched = [main.space.complete, ordered.complete, leftover.complete, unasked.complete, twice.complete]
    complete = all([*searched, *(cleanup.complete for cleanup in cleanups)])
    seen = len(main.space.states) + unasked.states + twice.states + ordered.states + leftover.states
    seen += sum(len(cleanup.space.states) for cleanup in cleanups)
    return Analysis(
        dead=_dead(main, cleanups),
        deadlock=ordered.found,
        no_end=_no_end(main, cleanups),
        unbounded=_unbounded(main) or _cleanup_unbounded(main, cleanups),
        fail_without_failure=unasked.found,
        fires_twice=twice.found,
        leftover=leftover.found,
        complete=complete,
        states=seen,
        covered=_covered(net, seen, complete),
        assumes=_assumes(net, main.space),
    )


def _dead(main: Main, cleanups: list[CleanUp]) -> tuple[str, ...]:
    """Steps that never fire. Where the search is cut short, only those that the drawing shows to be dead (S3)."""
    net, space = main.net, main.space
    alive = main.alive.union(*(cleanup.alive for cleanup in cleanups))
    if space.hurried and len(alive) < len(net.steps):
        space = survey(space.machine, main.shape, main.budget, rush=True)
        alive |= _alive(space)
    if not space.exhausted or not all(cleanup.complete for cleanup in cleanups):
        alive |= drawn_alive(net)
    return tuple(step.name for index, step in enumerate(net.steps) if index not in alive)


def _alive(space: Space) -> frozenset[int]:
    rules = [space.machine.rules[rule] for rule in space.alive]
    return frozenset(rule.step for rule in rules).union(space.woken, *(rule.wakes for rule in rules))


def _unsearched(net: Net) -> Analysis:
    """What the drawing tells of a net whose firings may choose in so many ways that listing them takes too long."""
    alive = drawn_alive(net)
    return Analysis(
        dead=tuple(step.name for index, step in enumerate(net.steps) if index not in alive),
        complete=False,
        covered=_covered(net, 0, False),
        assumes=_relaxed(net),
    )


def _in_order(main: Main) -> Answer[Deadlock | None]:
    """A standstill that can be played; one that the counts find and the engine does not is searched for again (S18)."""
    found = _deadlock(main)
    if found is None or any(step.keyed for step in main.net.steps):
        return Answer(found, True, 0)
    wiring = Wiring(main.net)
    played = standstill(wiring, found.trace)
    return search_in_order(wiring, main.budget) if played is None else Answer(played, True, 0)


def _deadlock(main: Main) -> Deadlock | None:
    """A shortest way to a state that R8 calls stalled."""
    space = main.space
    for number, meaning in space.rests.items():
        if meaning != "stalled":
            continue
        trace = shown(main.whole, space.trace(number), _stalled)
        if trace is not None:
            return Deadlock(trace, starving(space.machine, space.states[number]))
    return None


def _stalled(machine: Machine, state: State) -> bool:
    return at_rest(machine, state) and meaning_of_rest(machine, state) == "stalled"


def _leftover(main: Main) -> Answer[Leftover | None]:
    """A shortest way to success that leaves events of the run at a join, played as the standstill is (S18)."""
    space, machine, doubted = main.space, main.space.machine, False
    goals = [number for number, meaning in space.rests.items() if meaning == "succeeded"]
    for number in goals if main.net.names_ok else ():
        waiting = _at_joins(machine, space.states[number])
        trace = shown(main.whole, space.trace(number), _succeeded) if waiting else None
        if trace is None:
            continue
        if main.budget.out_of_time():
            return Answer(None, False, 0)
        step = machine.places[waiting[0]].step
        names = tuple(n for p in waiting if machine.places[p].step == step for n in machine.places[p].names)
        trace = _played(main, trace, main.net.steps[step])
        if trace is not None:
            return Answer(Leftover(trace, main.net.steps[step].name, names), True, 0)
        doubted = True
    return search_left_over(Wiring(main.net), main.budget, _joins) if doubted else Answer(None, True, 0)


def _played(main: Main, trace: Trace, step: Step) -> Trace | None:
    """The trace, as it is or with its outside events first, if events stay at the step when it is played (S18)."""
    if any(one.keyed for one in main.net.steps):
        return trace
    early = tuple(sorted(trace, key=lambda item: isinstance(item, Fire)))
    wiring = Wiring(main.net)
    return next((one for one in (trace, early) if step.name in left_at(wiring, one)), None)


def _succeeded(machine: Machine, state: State) -> bool:
    return bool(at_rest(machine, state) and state[machine.ok] and _at_joins(machine, state))


def _at_joins(machine: Machine, state: State) -> list[int]:
    return [
        place for place in left_over(machine, state) if _joins(machine.net.steps[machine.places[place].step])
    ]


def _joins(step: Step) -> bool:
    """Whether a step brings events together; one that waits for an early end of the run is left alone."""
    tidies = any(set(slot.events) <= set(ENDINGS) for slot in step.slots)
    return not tidies and (len(step.slots) > 1 or any(slot.need for slot in step.slots))


def _no_end(main: Main, cleanups: list[CleanUp]) -> Trace | None:
    """A way to a state from which, while no step fails, neither an end nor a deadlock can be reached (S10)."""
    if main.net.endless:
        return None
    if not main.shape.turning or not main.space.complete or not _lost(main.space):
        return _cleanup_no_end(main, cleanups)
    plain = plain_search(main.space.machine, main.budget._replace(states=SHORTEST), edges=True)
    best = plain if plain.complete and _lost(plain) else main.space
    return proved(main.whole, best.trace(min(_lost(best))))


def _lost(space: Space) -> set[int]:
    ends = [number for number, meaning in space.rests.items() if meaning != "waiting"]
    return set(range(len(space.states))) - can_reach(space, [*ends, *space.ends_well])


def _unbounded(main: Main) -> Unbounded | None:
    """A loop that piles events up, told as the way to it and one turn."""
    if main.space.pile is None:
        return None
    short = main.budget._replace(states=SHORTEST)
    plain = plain_search(main.space.machine, short, edges=False, until_pile=True)
    return _pile_of(plain, main.whole, played=True) or _pile_of(main.space, main.whole, played=True)


def _pile_of(space: Space, whole: Machine, played: bool = False) -> Unbounded | None:
    pile = space.pile
    if pile is None:
        return None
    assert pile.move.label is not None
    prefix, trace = space.trace(pile.start), (*space.trace(pile.last), pile.move.label)
    if not _grows(whole, prefix, trace, [space.machine.places[place] for place in pile.places]):
        return None
    place = space.machine.places[pile.places[0]]
    fired = _fired(whole.net, trace[len(prefix) :])
    name = next((name for name in place.names if name in fired), place.names[0])
    step = whole.net.steps[place.step].name
    played = played and not any(one.keyed for one in whole.net.steps)
    if played and not piles_up(whole.net, prefix, trace, step):
        return None
    return Unbounded(trace, step, name)


def _fired(net: Net, turn: Trace) -> set[str]:
    """What the firings of one turn of a loop put into the net."""
    ways = [(way, item) for item in turn if isinstance(item, Fire) for way in net.by_name[item.step].exits]
    return {name for way, item in ways if way.port == item.port for name in way.fires}


def _grows(whole: Machine, prefix: Trace, trace: Trace, places: list[object]) -> bool:
    """Whether the turn that follows the prefix can be repeated for ever and leaves more behind each time (S9)."""
    numbers = [number for number, place in enumerate(whole.places) if place in places]
    turn, starts = trace[len(prefix) :], replay(whole, prefix)
    for _ in range(FIRST_ROUNDS):
        ends = {before: replay(whole, turn, before) for before in starts}
        if any(_sinks(whole, turn, before, after, numbers) for before in ends for after in ends[before]):
            return True
        starts = set().union(*ends.values())
    return False


def _sinks(whole: Machine, turn: Trace, before: State, after: State, numbers: list[int]) -> bool:
    """Whether the turn leaves more behind however deep the debts are that it makes deeper."""
    sinking = {place for place in whole.signed if after[place] < before[place]}
    low = tuple(NEVER if place in sinking else count for place, count in enumerate(before))
    return any(_more(low, again, sinking, numbers) for again in replay(whole, turn, low))


def _more(before: State, after: State, sinking: set[int], numbers: list[int]) -> bool:
    kept = all(
        new >= old for place, (old, new) in enumerate(zip(before, after, strict=True)) if place not in sinking
    )
    return kept and any(after[number] > before[number] for number in numbers)


def _cleanup_no_end(main: Main, cleanups: list[CleanUp]) -> Trace | None:
    found = ((each.end, each.no_end) for each in cleanups if each.no_end is not None)
    return next((_way_to(main, end) + trace for end, trace in found), None)


def _cleanup_unbounded(main: Main, cleanups: list[CleanUp]) -> Unbounded | None:
    for cleanup in cleanups:
        found = _pile_of(cleanup.space, cleanup.space.machine) if cleanup.end is not None else None
        if found is not None:
            return Unbounded(_way_to(main, cleanup.end) + found.trace, found.step, found.event)
    return None


def _way_to(main: Main, end: str | None) -> Trace:
    if end != FAIL:
        return () if end is None else (Event(end),)
    return trace_to_fail(main.net, main.whole, Scope(prune=False), main.budget).found or ()


def _assumes(net: Net, space: Space) -> tuple[str, ...]:
    """What the search took to be freer than it is."""
    owes = any(state[place] <= LEAST_OWED for place in space.machine.signed for state in space.states)
    return (*_relaxed(net), *(("need",) if owes else ()))


def _relaxed(net: Net) -> tuple[str, ...]:
    slots = [slot for step in net.steps for slot in step.slots]
    found = {
        "match": any(step.keyed for step in net.steps),
        "cancels": any(step.cancels for step in net.steps),
        "rest: keep": any(slot.keep for slot in slots),
        "many": any(event.many and event.name in net.awaited for event in net.outside),
    }
    return tuple(name for name, relaxed in found.items() if relaxed)


def _covered(net: Net, seen: int, complete: bool) -> str:
    said = f"{_counted(len(net.steps), 'step')}, {_counted(seen, 'state')}"
    said += ", all of them" if complete else ", more are left"
    if any(step.cancels for step in net.steps):
        said += "; cancel regions: reset arcs, exact search"
    return said


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
