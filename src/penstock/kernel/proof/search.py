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
from operator import le
from typing import NamedTuple

from penstock.kernel.net import Exit, Net
from penstock.kernel.proof.machine import Machine, Meaning, Move, Rule, State, meaning_of_rest
from penstock.kernel.proof.structure import ends_run, loop_heads, loops, reach, step_graph
from penstock.kernel.proof.trace import Event, Trace

Goal = Callable[[State, list[int]], bool]


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
    goal: Goal | None = None  # stop at the first state that has it


class Pile(NamedTuple):
    """A loop from state `start` to state `last` and back by `move`: it leaves more events on `places` each time."""

    start: int
    last: int
    move: Move
    places: tuple[int, ...]


class Space:
    """What a search has seen. State 0 is the beginning; each other one has a parent nearer to it."""

    def __init__(self, machine: Machine, plan: Plan) -> None:
        self.machine, self.plan = machine, plan
        self.states: list[State] = [machine.initial]
        self.parent: list[int] = [-1]
        self.via: list[Move | None] = [None]
        self.index: dict[State, int] = {machine.initial: 0}
        self.alive: set[int] = set()  # rules that can fire
        self.rests: dict[int, Meaning] = {}
        self.ends_well: set[int] = set()  # states with an end in reach of the next firing
        self.edges: dict[int, list[tuple[int, bool]]] = {}
        self.pile: Pile | None = None
        self.found: int | None = None
        self.alone: set[int] = set()  # states entered by a rule that was followed alone
        self.complete = True
        self.relaxed = False  # a `many` event was let come again only when nothing moved

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
        if len(space.states) >= budget.states or budget.out_of_time():
            space.complete = False
            break
        number = todo.popleft()
        state = space.states[number]
        ready = [rule for rule in candidates[number] if machine.rules[rule].enabled(state)]
        candidates[number] = ()
        if plan.goal is not None and plan.goal(state, ready):
            space.found = number
            break
        alone, moves = _moves(space, number, state, ready)
        for move in moves:
            target, fresh = add(space, number, move)
            if fresh:
                candidates.append((*{*ready, *move.touches},))
            fired = alone and not isinstance(move.label, Event)
            if fresh or (fired and target not in space.alone and target in space.rests):
                todo.append(target)
            if fired:
                space.alone.add(target)
    return space


def add(space: Space, number: int, move: Move) -> tuple[int, bool]:
    """Follow a move: the state it leads to, and whether that is new."""
    after = move.apply(space.states[number], space.machine.signed)
    target = space.index.get(after)
    fresh = target is None
    if target is None:
        pile = _find_pile(space, number, move, after) if space.plan.covers else None
        if pile is not None:
            space.pile = space.pile or pile
            space.complete = False
            return number, False
        target = space.index[after] = len(space.states)
        space.states.append(after)
        space.parent.append(number)
        space.via.append(move)
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
        return True, [*first, *_coming(machine, state, passed_over=plan.patient)]
    found = [move for rule in followed for move in firings(machine, state, rule)]
    return False, [*found, *_coming(machine, state)]


def _coming(machine: Machine, state: State, passed_over: frozenset[str] = frozenset()) -> list[Move]:
    """The outside events that have not come yet and may come now."""
    return [
        move
        for event, move in machine.arrivals
        if event.name not in passed_over and not machine.came(state, event)
    ]


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
        if not machine.came(state, event):
            if not ended or event.name in space.plan.patient or number in space.alone:
                found.append(move)
        elif event.many and not ended:
            found.append(machine.repeat(state, event))
    return [move for move in found if move.adds or move.sets]


def _find_pile(space: Space, number: int, move: Move, after: State) -> Pile | None:
    """A loop back along the path that leaves more behind each time it is run (S9); it closes where a firing ends."""
    if move.label is None:
        return None
    size = len(space.machine.places)
    last, cleared = number, set(move.clears)
    fed = {place for event, arrival in space.machine.arrivals if event.many for place, _ in arrival.adds}
    while number >= 0:
        before = space.states[number]
        if before[size:] == after[size:] and all(map(le, before, after)):
            grown = [place for place in range(size) if after[place] > before[place] and place not in cleared]
            if grown and all(before[place] == after[place] for place in fed):
                return Pile(number, last, move, tuple(grown))
        step = space.via[number]
        cleared |= set(step.clears) if step is not None else set()
        number = space.parent[number]
    return None


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
    turning = bool(loops(smooth)) or any(event.many for event in net.outside)
    return Shape(looping, loop_heads(graph), turning, frozenset(reach(graph, looping)))


def survey(machine: Machine, shape: Shape, budget: Budget, goal: Goal | None = None) -> Space:
    """All that the machine can do, up to the order of firings that do not touch each other."""
    free, patient = independent(machine)
    many = any(event.many for event in machine.arriving)
    safe = not shape.looping or bounded(machine)
    looping = bool(shape.looping) or shape.turning
    plan = Plan(free, patient, covers=many or not safe, edges=looping, goal=goal)
    if safe:
        space = explore(machine, plan, budget)
        space.relaxed = many
        if not looping or space.found is not None or not space.complete or not _stuck(space):
            return space
    held = shape.heads if safe else shape.beyond
    eager = frozenset(rule for rule in free if machine.rules[rule].step not in held)
    space = explore(machine, plan._replace(eager=eager), budget)
    space.relaxed = many
    return space


def plain_search(machine: Machine, budget: Budget, edges: bool, goal: Goal | None = None) -> Space:
    """Every order of everything: slow, and the first path found is a shortest one."""
    many = any(event.many for event in machine.arriving)
    return explore(machine, Plan(covers=many or goal is None, edges=edges, goal=goal), budget)


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
    """Places where order matters: those a cancel region empties, and those from which a firing takes by choice."""
    found: set[int] = set()
    for rule in machine.rules:
        for part in rule.moves:
            found.update(place for move in part for place in move.clears)
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
    yield from enumerate(machine.initial[: len(machine.places)])
    for _, move in machine.arrivals:
        yield from move.adds
