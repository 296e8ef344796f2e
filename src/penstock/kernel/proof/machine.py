"""A net made ready for search: places that count events, and rules that say when a step may fire and what it changes.

A plain slot is a count. A slot that needs n different events has a count for each name, waiting minus owed:
an arrival adds one, a firing takes one of every name, so that what it did not find is owed. Behind the
places come the flags: OK fired, a failure put off, outside events that came, firings begun, the watched step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Literal, NamedTuple

from penstock.kernel.net import ENDINGS, FAIL, OK, START, Exit, Net, Outside, Slot, Step
from penstock.kernel.proof.structure import (
    doomed,
    ends_run,
    feeds_only,
    finishing_order,
    reach,
    step_graph,
    takers,
)
from penstock.kernel.proof.trace import Event, Fire

State = tuple[int, ...]
LEAST_OWED = -8  # a slot that owes more is taken to owe this much; traces are replayed without it


class Place(NamedTuple):
    """Where events wait: a slot, or one name of a slot. `outside`: what waits here came from outside."""

    step: int
    slot: int
    names: tuple[str, ...]
    outside: bool
    signed: bool


class Bind(NamedTuple):
    """One way for a step to take its events: places that must hold one, n of some, flags that must be down."""

    plain: tuple[int, ...]
    needs: tuple[tuple[int, tuple[int, ...]], ...] = ()
    down: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()

    def holds(self, state: State) -> bool:
        for place in self.plain:
            if state[place] < 1:
                return False
        if any(state[flag] for flag in self.down):
            return False
        return all(sum(state[place] > 0 for place in places) >= wanted for wanted, places in self.needs)


class Move(NamedTuple):
    """A change of state. `touches`: rules that it may enable or disable."""

    label: Event | Fire | None  # None: a firing begins, which belongs to the move that fills its step
    adds: tuple[tuple[int, int], ...]
    sets: tuple[int, ...]
    clears: tuple[int, ...]
    failure: bool
    touches: tuple[int, ...]

    def apply(self, state: State, signed: frozenset[int]) -> State:
        counts = list(state)
        for place in self.clears:
            counts[place] = 0
        for place, change in self.adds:
            counts[place] += change
            if change == -1 and counts[place] < LEAST_OWED and place in signed:
                counts[place] = LEAST_OWED
        for flag in self.sets:
            counts[flag] = 1
        return tuple(counts)


def places_of(net: Net, index: int, step: Step) -> Iterator[Place]:
    """The places of a step's slots. A join keeps outside and inside events of one slot apart: R8 asks which wait."""
    outside = set(net.outside_names())
    inside = net.fired | (net.awaited - outside)
    for number, slot in enumerate(step.slots):
        if slot.need:
            for name in slot.events:
                yield Place(index, number, (name,), name not in inside, not slot.keep)
            continue
        inner = tuple(name for name in slot.events if name in inside)
        outer = tuple(name for name in slot.events if name in outside)
        if len(step.slots) == 1 or not inner or not outer:
            yield Place(index, number, slot.events, not inner, False)
        else:
            yield Place(index, number, inner, False, False)
            yield Place(index, number, outer, True, False)


def binds_of(step: Step, places: dict[int, list[int]], down: tuple[int, ...] = ()) -> tuple[Bind, ...]:
    """Every way to take one set of events; `places` maps a slot's number to its places."""
    options = [list(_options(slot, tuple(places[number]))) for number, slot in enumerate(step.slots)]
    found = []
    for choice in product(*options):
        plain = tuple(place for part, need in choice if not need for place in part)
        needs = tuple((need, part) for part, need in choice if need)
        takes = tuple(place for part, _ in choice for place in part)
        found.append(Bind(plain, needs, down, takes))
    return tuple(found)


def choices(net: Net) -> int:
    """How many moves the net has because firings may choose what to take, beyond one for each exit."""
    total = 0
    for index, step in enumerate(net.steps):
        held = Counter(place.slot for place in places_of(net, index, step))
        ways = [
            1 if slot.need and not slot.keep else comb(held[n], slot.wanted)
            for n, slot in enumerate(step.slots)
        ]
        total += (prod(ways) - 1) * len(step.exits)
    return total


def _options(slot: Slot, places: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """What one firing takes from a slot: places it lowers, and how many of them must hold an event (0: all)."""
    if slot.need and not slot.keep:
        yield places, slot.need
    else:
        for part in combinations(places, slot.wanted):
            yield part, 0


# -- rules ----------------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """A step, or the second half of one with `cancels`: its binds and, for each, the moves worth following.

    Exits that end the run, or do nothing but lead to its end, are not followed: what can happen after them
    can happen without them (S6). `ends` and `wakes` keep what they show: end events and steps set going.
    """

    step: int
    binds: tuple[Bind, ...]
    moves: tuple[tuple[Move, ...], ...]
    ends: frozenset[str]
    ends_well: bool  # an exit that is no failure leads to the end
    wakes: frozenset[int]
    begins: bool = False

    def enabled(self, state: State) -> bool:
        return any(bind.holds(state) for bind in self.binds)


class Scope(NamedTuple):
    """What part of the net is checked at: the steps, the exits they may take, what is given, what ends a run."""

    steps: frozenset[int] | None = None
    follows: Callable[[Step, Exit], bool] = lambda step, way: True
    given: tuple[str, ...] = (START,)
    arriving: tuple[Outside, ...] | None = None  # None: the outside events of the net
    ends: Callable[[Exit], bool] = ends_run
    delivered: frozenset[str] = frozenset()  # end events that reach the steps that wait for them
    drop_put_off: bool = False
    prune: bool = True
    watch: int | None = None


class Machine:
    """Places, rules and arrivals of one scope of a net. Never changed once made.

    In `initial`, of what is `given`, all has begun that begins at once.
    """

    def __init__(self, net: Net, scope: Scope | None = None) -> None:
        self.net = net
        self.scope = scope = scope or Scope()
        self.steps = sorted(range(len(net.steps)) if scope.steps is None else scope.steps)
        self.places: list[Place] = [
            place for index in self.steps for place in places_of(net, index, net.steps[index])
        ]
        self.signed = frozenset(number for number, place in enumerate(self.places) if place.signed)
        self.arriving = net.outside if scope.arriving is None else scope.arriving
        self._lay_out_flags()
        self._route_events()
        self._graph = step_graph(net)
        order = {step: number for number, step in enumerate(finishing_order(self._graph))}
        self.doomed = doomed(net) if scope.prune else frozenset[int]()
        self._taking = takers(net)
        self.rules: list[Rule] = [rule for index in self.steps for rule in self._rules(index)]
        self.rank = [-order[rule.step] for rule in self.rules]  # the deepest step has the highest rank
        self._link_touches()
        self.begins = frozenset(number for number, rule in enumerate(self.rules) if rule.begins)
        self.begun = [number + 1 for number in self.begins]  # the second half of a step with `cancels`
        self.by_name: dict[str, list[Rule]] = {}
        for rule in self.rules:
            self.by_name.setdefault(net.steps[rule.step].name, []).append(rule)
        self.arrivals = [(event, self._arrival(event)) for event in self.arriving]
        self.recurring = [event for event in self.arriving if event.many and self.gates.get(event.name)]
        puts = self.puts(scope.given)
        self.given = tuple(puts.get(place, 0) for place in range(self.size))
        self.initial = self.settle(self.given, tuple(puts))

    def _lay_out_flags(self) -> None:
        names = ["ok", "put off", "watch", "end"]
        names += [f"came {event.name}" for event in self.arriving]
        names += [f"begun {index}" for index in self.steps if self.net.steps[index].cancels]
        self.flags = {name: len(self.places) + number for number, name in enumerate(names)}
        self.ok, self.put_off, self.watch, self.end = (self.flags[name] for name in names[:4])
        self.size = len(self.places) + len(names)

    def _route_events(self) -> None:
        self.slots: dict[int, dict[int, list[int]]] = {index: {} for index in self.steps}
        for number, place in enumerate(self.places):
            self.slots[place.step].setdefault(place.slot, []).append(number)
        self.routes: dict[str, list[int]] = {}
        self.gates: dict[str, list[int]] = {}  # where an event goes that comes from outside
        for number, place in enumerate(self.places):
            shared = [
                self.places[other].names for other in self.slots[place.step][place.slot] if other != number
            ]
            for name in place.names:
                if name in ENDINGS and name not in self.scope.delivered:
                    continue
                twin = any(name in names for names in shared)
                if not (twin and place.outside):
                    self.routes.setdefault(name, []).append(number)
                if not twin or place.outside:
                    self.gates.setdefault(name, []).append(number)

    def puts(self, names: Iterable[str]) -> Counter[int]:
        """Place -> how many events it gets when these are fired."""
        return Counter(place for name in names for place in self.routes.get(name, ()))

    def _rules(self, index: int) -> list[Rule]:
        step = self.net.steps[index]
        if not step.cancels:
            return [self._rule(index, binds_of(step, self.slots[index]))]
        begun = self.flags[f"begun {index}"]
        binds = binds_of(step, self.slots[index], down=(begun,))
        clears = tuple(self._region(step))
        kept = [[place for place in bind.takes if place not in clears] for bind in binds]
        begins = tuple((Move(None, _changes(takes, {begun: 1}), (), clears, False, ()),) for takes in kept)
        first = Rule(index, binds, begins, frozenset(), False, frozenset(), begins=True)
        return [first, self._rule(index, (Bind((begun,), takes=(begun,)),))]

    def _region(self, step: Step) -> Iterable[int]:
        for index in self.steps:
            if self.net.steps[index].name in step.cancels:
                yield from (place for part in self.slots[index].values() for place in part)
                if self.net.steps[index].cancels:
                    yield self.flags[f"begun {index}"]

    def _rule(self, index: int, binds: tuple[Bind, ...]) -> Rule:
        step, scope = self.net.steps[index], self.scope
        followed, ends, wakes, ends_well = [], set[str](), set[int](), False
        for way in step.exits:
            if not scope.follows(step, way):
                continue
            ending, dooming = scope.ends(way), feeds_only(way, self._taking, self.doomed)
            if ending or dooming:
                ends.update(name for name in way.fires if name in ENDINGS)
                ends_well |= not way.failure
                wakes.update(self._fed(way) if dooming and not ending else ())
                continue
            ends.update((FAIL,) if way.put_off else ())
            if not (way.put_off and scope.drop_put_off):
                followed.append(way)
        woken = frozenset(reach(self._graph, wakes))
        exits = (way for woke in woken for way in self.net.steps[woke].exits)
        ends.update(name for way in exits for name in way.fires if name in ENDINGS)
        moves = tuple(tuple(self._move(index, bind, way) for way in followed) for bind in binds)
        return Rule(index, binds, moves, frozenset(ends), ends_well, woken)

    def _fed(self, way: Exit) -> set[int]:
        return {self.places[place].step for place in self.puts(way.fires)}

    def _move(self, index: int, bind: Bind, way: Exit) -> Move:
        sets = [self.ok] if OK in way.fires else []
        sets += [self.put_off] if way.put_off else []
        sets += [self.watch] if self.scope.watch == index else []
        label = Fire(self.net.steps[index].name, way.port)
        fired = self.puts(name for name in way.fires if name not in ENDINGS)
        return Move(label, _changes(bind.takes, fired), tuple(sets), (), way.failure, ())

    def _link_touches(self) -> None:
        owners: dict[int, set[int]] = {}
        for number, rule in enumerate(self.rules):
            for bind in rule.binds:
                for place in (*bind.plain, *bind.down, *(p for _, part in bind.needs for p in part)):
                    owners.setdefault(place, set()).add(number)
        self.owners = owners
        self.rules = [
            rule._replace(moves=tuple(tuple(self._touching(move) for move in part) for part in rule.moves))
            for rule in self.rules
        ]

    def _touching(self, move: Move) -> Move:
        changed = {place for place, _ in move.adds} | set(move.clears)
        touches = {rule for place in changed for rule in self.owners.get(place, ())}
        return move._replace(touches=tuple(touches))

    def _arrival(self, event: Outside) -> Move:
        adds = tuple((place, 1) for place in self.gates.get(event.name, ()))
        came = (self.flags[f"came {event.name}"],)
        return self._touching(Move(Event(event.name), adds, came, (), False, ()))

    def repeat(self, state: State, event: Outside) -> Move:
        """A further coming of a `many` event: a copy into each slot that is empty."""
        adds = []
        for place in self.gates.get(event.name, ()):
            spot = self.places[place]
            waiting = (place,) if spot.signed else tuple(self.slots[spot.step][spot.slot])
            if sum(state[other] for other in waiting) <= self._held(state, spot):
                adds.append((place, 1))
        return self._touching(Move(Event(event.name), tuple(adds), (), (), False, ()))

    def _held(self, state: State, spot: Place) -> int:
        """How many of the events in a place belong to a firing that is in progress."""
        step = self.net.steps[spot.step]
        runs = not step.cancels and any(rule.enabled(state) for rule in self.by_name[step.name])
        return (1 if spot.signed else step.slots[spot.slot].wanted) if runs else 0

    # -- a step with a cancel region begins as soon as it can -----------------------------------------------

    def after(self, state: State, move: Move, signed: frozenset[int]) -> tuple[State, list[State]]:
        """The state right after a move, and those after the firings that it begins: several where these choose."""
        moved = move.apply(state, signed)
        due = [
            number for number in move.touches if number in self.begins and self.rules[number].enabled(moved)
        ]
        if not due:
            return moved, [moved]
        return moved, self._settle(
            moved, due if len(due) == 1 else self._as_filled(moved, due, self._order(move))
        )

    def settle(self, state: State, puts: Sequence[int] = ()) -> State:
        """The state once every step with `cancels` has begun that may, in the order in which `puts` filled them."""
        due = [number for number in sorted(self.begins) if self.rules[number].enabled(state)]
        return self._settle(state, self._as_filled(state, due, puts))[0]

    def emptied(self, moved: State, move: Move) -> frozenset[int]:
        """The places that the firings which a move begins empty."""
        begins = (self.rules[rule] for rule in move.touches if rule in self.begins)
        return frozenset(p for rule in begins if rule.enabled(moved) for p in rule.moves[0][0].clears)

    def _settle(self, state: State, due: list[int]) -> list[State]:
        states = [state]
        for number in due:
            states = [begun for one in states for begun in self._begun(one, self.rules[number])]
        return states

    def _begun(self, state: State, rule: Rule) -> list[State]:
        moves = [part[0] for bind, part in zip(rule.binds, rule.moves, strict=True) if bind.holds(state)]
        return [move.apply(state, self.signed) for move in moves] or [state]

    def _order(self, move: Move) -> Sequence[int]:
        """The places in which a move puts events, in the order in which they come."""
        if not isinstance(move.label, Fire):
            return [place for place, change in move.adds if change > 0]
        label = move.label
        way = next(way for way in self.net.by_name[label.step].exits if way.port == label.port)
        return [place for name in way.fires for place in self.routes.get(name, ())]

    def _as_filled(self, state: State, due: list[int], puts: Sequence[int]) -> list[int]:
        counts = list(state)
        for place in puts:
            counts[place] -= 1
        order = [number for number in due if self.rules[number].enabled(tuple(counts))]
        for place in puts:
            counts[place] += 1
            filled = tuple(counts)
            order += [number for number in due if number not in order and self.rules[number].enabled(filled)]
        return order

    def came(self, state: State, event: Outside) -> bool:
        return bool(state[self.flags[f"came {event.name}"]])


def every_exit(net: Net) -> Machine:
    """The net as it is, nothing left out: traces are replayed on it."""
    return Machine(net, Scope(ends=lambda way: False, prune=False))


def _changes(takes: Iterable[int], puts: dict[int, int] | Counter[int]) -> tuple[tuple[int, int], ...]:
    total = Counter(puts)
    total.subtract(takes)
    return tuple((place, change) for place, change in total.items() if change)


# -- what a state in which nothing moves means: R8 ------------------------------------------------------------


Meaning = Literal["failed", "succeeded", "waiting", "stalled"]


def meaning_of_rest(machine: Machine, state: State) -> Meaning:
    """The first part of R8 that holds for a state in which no step is enabled."""
    if state[machine.put_off]:
        return "failed"
    if state[machine.ok]:
        return "succeeded"
    if _outside_would_help(machine, state):
        return "waiting"
    if not machine.net.names_ok and not left_over(machine, state):
        return "succeeded"
    return "stalled"


def left_over(machine: Machine, state: State) -> tuple[int, ...]:
    """Places in which events wait that did not come from outside."""
    return tuple(
        number for number, place in enumerate(machine.places) if state[number] > 0 and not place.outside
    )


def _outside_would_help(machine: Machine, state: State) -> bool:
    counts = list(state)
    touched: set[int] = set()
    for event, move in machine.arrivals:
        if not event.optional and (event.many or not machine.came(state, event)):
            for place, change in move.adds:
                counts[place] = max(counts[place], 0) + 1 if event.many else counts[place] + change
            touched.update(move.touches)
    helped = tuple(counts)
    return any(machine.rules[rule].enabled(helped) for rule in touched)


def starving(machine: Machine, state: State) -> dict[str, tuple[str, ...]]:
    """Steps that hold some of what they need -> the events they still miss."""
    found: dict[str, tuple[str, ...]] = {}
    for index in machine.steps:
        step = machine.net.steps[index]
        held = {number: [p for p in part if state[p] > 0] for number, part in machine.slots[index].items()}
        if not any(held.values()):
            continue
        missing: list[str] = []
        for number, slot in enumerate(step.slots):
            if len(held[number]) < slot.wanted:
                have = {name for place in held[number] for name in machine.places[place].names}
                missing += [name for name in slot.events if not slot.need or name not in have]
        found[step.name] = tuple(dict.fromkeys(missing))
    return found
