"""The bounded search: breadth first, so that the first path to a state is a shortest one; and how little is enough.

Steps never compete for events: each slot belongs to one step. So of several enabled steps it is enough to follow
one, if no cancel region and no choice of what to take is involved, and outside events may wait until nothing
moves (S7, S8). `eager` says which rules may be followed alone; with none of them the search is complete and plain.
Weights on places that no firing can raise bound all counts, and with them the firings, without any search.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf
from operator import le
from typing import NamedTuple

from penstock.kernel.net import Exit, Net
from penstock.kernel.proof.machine import LEAST_OWED, Machine, Meaning, Move, Rule, State, meaning_of_rest
from penstock.kernel.proof.structure import ends_run, loop_heads, loops, reach, step_graph
from penstock.kernel.proof.trace import Event, Trace

Goal = Callable[[State, list[int]], bool]
NOTHING = frozenset[int]()
OMEGA = 10**6  # events in a place that piles up: any number
MAX_EXACT = 2  # of which so many are still told apart
AFTER_PILE = 1_000  # states seen once a workflow is known to pile events up
ROUNDS = 3


class Budget(NamedTuple):
    """How far a search may go: states seen, and the caller's word that time is up."""

    states: int
    out_of_time: Callable[[], bool]


class Plan(NamedTuple):
    """How to search: rules that may be followed alone, arrivals that may wait, and what to look for on the way."""

    eager: frozenset[int] = frozenset()
    patient: frozenset[str] = frozenset()  # outside events that touch nothing where order matters
    covers: bool = False  # look for loops that pile events up
    edges: bool = False  # keep the graph, for questions about what can still be reached
    late: bool = False  # only what happens after the end of the run counts
    until_pile: bool = False  # stop at the first loop that piles events up
    rush: bool = False  # follow `many` events that come faster than they are used up
    goal: Goal | None = None  # stop at the first state that has it


class Pile(NamedTuple):
    """A loop from state `start` to state `last` and back by `move`: it leaves more events on `places` each time.

    `hurried`: in it a `many` event comes again while something moves. That is no mistake of the drawing.
    """

    start: int
    last: int
    move: Move
    places: tuple[int, ...]
    hurried: bool


class Space:
    """What a search has seen. State 0 is the beginning; each other one has a parent nearer to it."""

    def __init__(self, machine: Machine, plan: Plan) -> None:
        self.machine, self.plan = machine, plan
        self.states: list[State] = [machine.initial]
        self.parent: list[int] = [-1]
        self.via: list[Move | None] = [None]
        self.index: dict[State, int] = {machine.initial: 0}
        self.alive: set[int] = set()  # rules that can fire
        self.woken: set[int] = set()  # steps that held all they needed, if only until it was withdrawn
        if machine.initial != machine.given and not plan.late:
            self.woken = {rule.step for rule in machine.rules if rule.enabled(machine.given)}
        self.cleared: dict[int, frozenset[int]] = {}  # states entered by a move that emptied a cancel region
        self.rests: dict[int, Meaning] = {}
        self.ends_well: set[int] = set()  # states with an end in reach of the next firing
        self.edges: dict[int, list[tuple[int, bool]]] = {}
        self.pile: Pile | None = None
        self.found: int | None = None
        self.alone: set[int] = set()  # states entered by a rule that was followed alone
        self.last: float = inf  # states that may be seen, once something piles up
        self.hurried = False  # a `many` event was not followed where it comes faster than it is used up
        self.exhausted = True  # nothing was left out except for what piles up

    @property
    def complete(self) -> bool:
        """Whether all was seen, with every count as it is."""
        return self.exhausted and self.pile is None

    def is_full(self, budget: Budget) -> bool:
        """Whether the budget is spent, of which little is left for what can be seen beside a pile."""
        return len(self.states) >= min(budget.states, self.last) or budget.out_of_time()

    def lingers(self, number: int) -> bool:
        """Whether a firing that was followed alone on the way might as well have kept the run moving until now."""
        while number > 0 and number not in self.alone:
            number = self.parent[number]
        return number > 0

    def trace(self, number: int) -> Trace:
        """A path from the beginning to the state."""
        labels = []
        while number > 0:
            move = self.via[number]
            if move is not None and move.label is not None:
                labels.append(move.label)
            number = self.parent[number]
        return tuple(reversed(labels))


def explore(machine: Machine, plan: Plan, budget: Budget) -> Space:
    """Search from the beginning until all is seen, the goal is met or the budget is spent."""
    space = Space(machine, plan)
    candidates: list[tuple[int, ...]] = [tuple(range(len(machine.rules)))]
    todo = deque([0])
    while todo:
        if space.is_full(budget):
            space.exhausted = False
            break
        number = todo.popleft()
        state = space.states[number]
        ready = [rule for rule in candidates[number] if machine.rules[rule].enabled(state)]
        candidates[number] = ()
        if plan.goal is not None and plan.goal(state, ready):
            space.found = number
            break
        if plan.until_pile and space.pile is not None:
            break
        alone, moves = _moves(space, number, state, ready)
        entries = [(move, entry) for move in moves for entry in add(space, number, move)]
        for move, (target, fresh) in entries:
            if fresh:
                candidates.append((*{*ready, *move.touches, *machine.begun},))
            fired = alone and not isinstance(move.label, Event)
            if fresh or (fired and target not in space.alone and target in space.rests):
                todo.append(target)
            if fired:
                space.alone.add(target)
    return space


def add(space: Space, number: int, move: Move) -> list[tuple[int, bool]]:
    """Follow a move: the states it leads to, and whether each is new."""
    machine = space.machine
    moved, settled = machine.after(space.states[number], move, machine.signed)
    if settled[0] is not moved and (not space.plan.late or moved[machine.end]):
        touched = (machine.rules[rule] for rule in move.touches)
        space.woken.update(rule.step for rule in touched if rule.enabled(moved))
    cleared = NOTHING if settled[0] is moved else machine.emptied(moved, move)
    return [_enter(space, number, move, after, cleared) for after in settled]


def _enter(space: Space, number: int, move: Move, after: State, cleared: frozenset[int]) -> tuple[int, bool]:
    after = after if space.pile is None else _without_limit(after)
    target = space.index.get(after)
    pile = _find_pile(space, number, move, after, cleared) if target is None and space.plan.covers else None
    if pile is not None and pile.hurried and not space.plan.rush:
        if any(after[place] > MAX_EXACT for place in pile.places):
            space.hurried = True
            return number, False
    elif pile is not None:
        if space.pile is None:
            space.pile, space.last = pile, len(space.states) + AFTER_PILE
        after = _without_limit(after, frozenset(pile.places))
        target = space.index.get(after)
    fresh = target is None
    if target is None:
        target = space.index[after] = len(space.states)
        space.states.append(after)
        space.parent.append(number)
        space.via.append(move)
        if cleared:
            space.cleared[target] = cleared
    if space.plan.edges:
        space.edges.setdefault(number, []).append((target, move.failure))
    return target, fresh


def _moves(space: Space, number: int, state: State, ready: list[int]) -> tuple[bool, list[Move]]:
    """The moves to follow from a state, and whether one rule is followed alone; notes what the state shows."""
    machine, plan = space.machine, space.plan
    if not ready:
        space.rests[number] = meaning_of_rest(machine, state)
        return False, arrivals_at_rest(space, number, state)
    space.alive.update(ready)
    if any(machine.rules[rule].ends_well for rule in ready):
        space.ends_well.add(number)
    followed = [rule for rule in ready if any(machine.rules[rule].moves)]
    alone = [rule for rule in followed if rule in plan.eager]
    if alone:
        first = firings(machine, state, max(alone, key=machine.rank.__getitem__))
        return True, [*first, *coming(machine, state, passed_over=plan.patient)]
    found = [move for rule in followed for move in firings(machine, state, rule)]
    return False, [*found, *coming(machine, state)]


def coming(machine: Machine, state: State, passed_over: frozenset[str] = frozenset()) -> list[Move]:
    """The outside events that may come now: for the first time or, of those that come again and again, once more."""
    coming = [(event, move) for event, move in machine.arrivals if event.name not in passed_over]
    found = [move for event, move in coming if not machine.came(state, event)]
    again = [event for event, _ in coming if event in machine.recurring and machine.came(state, event)]
    return found + [move for event in again if (move := machine.repeat(state, event)).adds]


def firings(machine: Machine, state: State, number: int) -> list[Move]:
    rule = machine.rules[number]
    return [
        move for bind, part in zip(rule.binds, rule.moves, strict=True) if bind.holds(state) for move in part
    ]


def arrivals_at_rest(space: Space, number: int, state: State) -> list[Move]:
    """What may come when nothing moves.

    After an end nothing comes, but what commutes with the last firing may have come before it.
    """
    machine = space.machine
    ended = space.rests[number] in ("failed", "succeeded")
    if ended and number == 0:
        return []
    found = []
    for event, move in machine.arrivals:
        if ended and event.name not in space.plan.patient and not space.lingers(number):
            continue
        if not machine.came(state, event):
            found.append(move)
        elif event.many:
            found.append(machine.repeat(state, event))
    return [move for move in found if move.adds or move.sets]


def _without_limit(state: State, piling: frozenset[int] = frozenset()) -> State:
    """The state in which places that pile up hold any number of events, once they hold more than a few."""
    few = [MAX_EXACT if place in piling else OMEGA // 2 for place in range(len(state))]
    return tuple([OMEGA if count > limit else count for count, limit in zip(state, few, strict=True)])


def _find_pile(space: Space, number: int, move: Move, after: State, cleared: frozenset[int]) -> Pile | None:
    """A loop back along the path that leaves more behind each time it is run (S9)."""
    size, last, tried = len(space.machine.places), number, 0
    turn, flags, hurried = [move], after[size:], _is_hurried(space, number, move)
    while number >= 0 and tried < ROUNDS:
        before = space.states[number]
        sunk = _sunk(space.machine, before, after) if before[size:] == flags else None
        if sunk is not None:
            grown = tuple(p for p in range(size) if after[p] > before[p] and p not in cleared)
            if grown and _is_new(space, after, grown):
                if _repeats(space.machine, turn[::-1], sunk, grown):
                    return Pile(number, last, move, grown, hurried)
                tried += 1
        via = space.via[number]
        if via is not None:
            turn.append(via)
            hurried = hurried or _is_hurried(space, space.parent[number], via)
        cleared = cleared | space.cleared[number] if number in space.cleared else cleared
        number = space.parent[number]
    return None


def _is_hurried(space: Space, number: int, move: Move) -> bool:
    """Whether the move is a further coming of an event while something moves."""
    calm = space.rests.get(number) in ("waiting", "stalled")
    return isinstance(move.label, Event) and not move.sets and not calm


def _sunk(machine: Machine, before: State, after: State) -> State | None:
    """The state after a turn, with debts that grow as deep as they get; None where other events are used up."""
    sinking = [place for place, (old, new) in enumerate(zip(before, after, strict=True)) if new < old]
    if not sinking:
        return after
    if not machine.signed.issuperset(sinking):
        return None
    return tuple(LEAST_OWED if place in sinking else count for place, count in enumerate(after))


def _is_new(space: Space, after: State, grown: tuple[int, ...]) -> bool:
    """Whether the search does not know yet that these places pile up."""
    return space.pile is None or any(MAX_EXACT < after[place] < OMEGA for place in grown)


def _repeats(machine: Machine, turn: list[Move], after: State, grown: tuple[int, ...]) -> bool:
    """Whether a few more turns leave more behind each: what piles up may set a cancel region going."""
    for _ in range(ROUNDS):
        states = {after}
        for move in turn:
            states = {again for state in states for again in _once_more(machine, state, move)}
        after = next((again for again in states if _more(after, again, grown)), ())
        if not after:
            return False
    return True


def _more(before: State, after: State, grown: tuple[int, ...]) -> bool:
    enough = all(map(le, before, after))
    return enough and all(before[place] < after[place] or after[place] == OMEGA for place in grown)


def _once_more(machine: Machine, state: State, move: Move) -> Iterator[State]:
    """The states after a move of this label, made from another state."""
    label = move.label
    if isinstance(label, Event):
        event = next(event for event, _ in machine.arrivals if event.name == label.name)
        moves = [machine.repeat(state, event) if machine.came(state, event) else move]
    elif label is None:
        moves = []
    else:
        rules = [n for n, rule in enumerate(machine.rules) if machine.net.steps[rule.step].name == label.step]
        moves = [one for rule in rules for one in firings(machine, state, rule) if one.label == label]
    for one in moves:
        yield from map(_without_limit, machine.after(state, one, machine.signed)[1])


# -- how a machine is searched so that little is seen and nothing is missed -----------------------------------


class Shape(NamedTuple):
    """What the drawing says about loops: all of them, and those that turn without any failure."""

    looping: frozenset[int]
    heads: frozenset[int]  # one at least on every loop
    turning: bool
    beyond: frozenset[int]  # on a loop or fed by one


def shape_of(net: Net, ends: Callable[[Exit], bool] = ends_run) -> Shape:
    graph = step_graph(net, lambda step, way: not ends(way))
    looping = frozenset(step for loop in loops(graph) for step in loop)
    smooth = step_graph(net, lambda step, way: not way.failure and not ends(way))
    turning = bool(loops(smooth)) or any(event.many and event.name in net.awaited for event in net.outside)
    return Shape(looping, loop_heads(graph), turning, frozenset(reach(graph, looping)))


def survey(
    machine: Machine, shape: Shape, budget: Budget, goal: Goal | None = None, rush: bool = False
) -> Space:
    """All that the machine can do, up to the order of firings that do not touch each other."""
    free, patient = independent(machine)
    safe = not shape.looping or bounded(machine)
    looping = bool(shape.looping) or shape.turning
    covers = bool(machine.recurring) or not safe
    plan = Plan(free, patient, covers=covers, edges=looping, goal=goal, rush=rush)
    if safe:
        space = explore(machine, plan, budget)
        if not looping or space.found is not None or not space.complete or not _stuck(space):
            return space
    held = shape.heads if safe else shape.beyond
    eager = frozenset(rule for rule in free if machine.rules[rule].step not in held)
    return explore(machine, plan._replace(eager=eager), budget)


def plain_search(
    machine: Machine, budget: Budget, edges: bool, goal: Goal | None = None, until_pile: bool = False
) -> Space:
    """Every order of everything: slow, and the first path found is a shortest one."""
    covers = bool(machine.recurring) or goal is None
    return explore(machine, Plan(covers=covers, edges=edges, goal=goal, until_pile=until_pile), budget)


def independent(machine: Machine) -> tuple[frozenset[int], frozenset[str]]:
    """Rules that commute with all others, and outside events that commute with all rules (S7, S8)."""
    touchy = touchy_places(machine)
    free = frozenset(
        number
        for number, rule in enumerate(machine.rules)
        if not rule.begins and any(rule.moves) and _commutes(machine, rule, touchy)
    )
    patient = frozenset(
        event.name for event, move in machine.arrivals if not any(place in touchy for place, _ in move.adds)
    )
    return free, patient


def touchy_places(machine: Machine) -> frozenset[int]:
    """Places where order matters: those that set a cancel region going or that it empties, and those from which a
    firing takes by choice."""
    found: set[int] = set()
    for rule in machine.rules:
        for part in rule.moves:
            found.update(place for move in part for place in move.clears)
        if rule.begins:
            found.update(place for bind in rule.binds for place in bind.takes)
        if len(rule.binds) > 1:
            found.update(place for bind in rule.binds for place in bind.takes)
        found.update(flag for bind in rule.binds for flag in bind.down)
    return frozenset(found)


def _commutes(machine: Machine, rule: Rule, touchy: frozenset[int]) -> bool:
    fails_only = all(way.failure for way in machine.net.steps[rule.step].exits)
    used = {place for bind in rule.binds for place in bind.takes}
    used |= {place for part in rule.moves for move in part for place, _ in move.adds}
    return not fails_only and not used & touchy


def _stuck(space: Space) -> bool:
    """Whether some state cannot come to a stop without a failure: then waiting steps may have been passed over."""
    stops = [number for number in range(len(space.states)) if not space.edges.get(number)]
    return len(can_reach(space, stops)) < len(space.states)


def can_reach(space: Space, targets: list[int]) -> set[int]:
    """States from which a target can be reached while no step fails."""
    back: dict[int, list[int]] = {}
    for tail, heads in space.edges.items():
        for head, failure in heads:
            if not failure:
                back.setdefault(head, []).append(tail)
    seen, stack = set(targets), list(targets)
    while stack:
        for tail in back.get(stack.pop(), ()):
            if tail not in seen:
                seen.add(tail)
                stack.append(tail)
    return seen


# -- weights on places that no firing can raise: they bound all counts, without a search ----------------------


SWEEPS = 40
Group = tuple[int, int]  # step and slot: the places of one slot share a weight
Amount = int | Fraction


class Flow(NamedTuple):
    """What one rule takes and, for each exit, what it puts, counted by slot."""

    rule: int
    takes: dict[Group | int, int]
    puts: tuple[dict[Group | int, int], ...]


def flows(machine: Machine) -> list[Flow]:
    """One flow a rule, the deepest step first, so that weights settle in few sweeps."""
    order = sorted(range(len(machine.rules)), key=machine.rank.__getitem__, reverse=True)
    return [_flow(machine, number, machine.rules[number]) for number in order]


def _flow(machine: Machine, number: int, rule: Rule) -> Flow:
    bind = rule.binds[0]
    takes: Counter[Group | int] = Counter(group_of(machine, place) for place in bind.plain)
    for wanted, places in bind.needs:
        takes[group_of(machine, places[0])] += wanted
    taken = Counter(bind.takes)
    puts = []
    for move in rule.moves[0]:
        gain = Counter(dict(move.adds))
        gain.update(taken)
        puts.append(dict(_bygroup_of(machine, gain)))
    return Flow(number, dict(takes), tuple(puts))


def group_of(machine: Machine, place: int) -> Group | int:
    spot = machine.places[place] if place < len(machine.places) else None
    return (spot.step, spot.slot) if spot is not None else place


def _bygroup_of(machine: Machine, counts: Counter[int]) -> Counter[Group | int]:
    total: Counter[Group | int] = Counter()
    for place, count in counts.items():
        if count > 0:
            total[group_of(machine, place)] += count
    return total


def bounded(machine: Machine) -> bool:
    """Whether weights of at least one exist that no firing raises: then no events can pile up (S5)."""
    weight: dict[Group | int, int] = {}
    parts = flows(machine)
    for _ in range(SWEEPS):
        settled = True
        for flow in parts:
            held = sum(weight.get(group, 1) * count for group, count in flow.takes.items())
            for put in flow.puts:
                lack = sum(weight.get(group, 1) * count for group, count in put.items()) - held
                if lack <= 0:
                    continue
                group = next((g for g, count in flow.takes.items() if count > put.get(g, 0)), None)
                if group is None:
                    return False
                raised = -(-lack // (flow.takes[group] - put.get(group, 0)))
                weight[group] = weight.get(group, 1) + raised
                held += raised * flow.takes[group]
                settled = False
        if settled:
            return True
    return False


def most_firings(machine: Machine, parts: list[Flow], step: int, anchor: Callable[[int], Group]) -> Amount:
    """No run fires the step more often than this; -1 where the weights do not settle.

    Each token is worth the firings of the step it may still bring about; a join is paid for from one slot,
    the one that `anchor` names.
    """
    worth: dict[Group | int, Amount] = {}
    for _ in range(SWEEPS):
        settled = True
        for flow in parts:
            owner = machine.rules[flow.rule]
            counts = int(owner.step == step and not owner.begins)
            due = counts + max((_sum(worth, put) for put in flow.puts), default=0)
            group = anchor(owner.step) if not _is_second_half(flow) else next(iter(flow.takes))
            price = due if flow.takes[group] == 1 else Fraction(due) / flow.takes[group]
            if price > worth.get(group, 0):
                worth[group] = price
                settled = False
        if settled:
            return sum(worth.get(group_of(machine, place), 0) * count for place, count in given(machine))
    return -1


def _is_second_half(flow: Flow) -> bool:
    return any(isinstance(group, int) for group in flow.takes)


def _sum(worth: dict[Group | int, Amount], put: dict[Group | int, int]) -> Amount:
    return sum((worth[group] * count for group, count in put.items() if group in worth))


def given(machine: Machine) -> Iterator[tuple[int, int]]:
    """Places, with the events that are there at the beginning or may come from outside."""
    yield from enumerate(machine.given[: len(machine.places)])
    for _, move in machine.arrivals:
        yield from move.adds
