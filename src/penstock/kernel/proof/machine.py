"""A net made ready for search: rules that say when a step may fire and what each of its exits changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from penstock.kernel.net import ENDINGS, FAIL, OK, START, Exit, Net, Outside, Step
from penstock.kernel.proof.counters import Bind, Move, Place, State, binds_of, places_of
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
    """What part of the net is looked at: the steps, the exits they may take, what is given, what ends a run."""

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
    """Places, rules and arrivals of one scope of a net. Never changed once made."""

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
        self._by_name: dict[str, list[Rule]] = {}
        for rule in self.rules:
            self._by_name.setdefault(net.steps[rule.step].name, []).append(rule)
        self.arrivals = [(event, self._arrival(event)) for event in self.arriving]
        self.initial = self._start()

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
            if all(state[other] < 1 for other in waiting):
                adds.append((place, 1))
        return self._touching(Move(Event(event.name), tuple(adds), (), (), False, ()))

    def _start(self) -> State:
        puts = self.puts(self.scope.given)
        return tuple(puts.get(place, 0) for place in range(self.size))

    def rules_of(self, name: str) -> list[Rule]:
        """The rules of a step, by its name."""
        return self._by_name.get(name, [])

    def came(self, state: State, event: Outside) -> bool:
        return bool(state[self.flags[f"came {event.name}"]])


def every_exit(net: Net) -> Machine:
    """The net as it is, nothing left out: traces are replayed on it."""
    return Machine(net, Scope(ends=lambda way: False, prune=False))


def _changes(takes: Iterable[int], puts: dict[int, int] | Counter[int]) -> tuple[tuple[int, int], ...]:
    total = Counter(puts)
    total.subtract(takes)
    return tuple((place, change) for place, change in total.items() if change)
