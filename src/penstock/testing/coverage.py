"""Scenarios that together cover every step and every port: a bounded search over the token game."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import count
from math import inf
from typing import Any

from penstock.engine.authoring.loader import Source, load
from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.decisions.quiescence import waiting_for
from penstock.testing import exploration
from penstock.testing.distance import Distances
from penstock.testing.exploration import Move, Node, Pair, Port
from penstock.testing.scenario import Scenario, Scenarios, Uncovered, scenario_of
from penstock.testing.stubbed_flow import relaxed
from penstock.workers.task import tasks_of

BUDGET = 4_000
"""Moves that the search for far-away steps may try."""
EACH = 2_000
"""Moves that the search for one of them may try."""
COMES = 3
"""How often an event that is `many` comes in one scenario."""


def scenarios(source: Source | Flow, tasks: Any = None, budget: int = BUDGET) -> Scenarios:
    """Generated runs that cover every step and every port that can be covered; the same each time.

    What cannot be covered, or was not found within `budget`, is listed in `uncovered`. Raises DefinitionError.
    """
    flow = source if isinstance(source, Flow) else load(source, {} if tasks is None else tasks_of(tasks)).flow
    return _Cover(relaxed(flow), budget).scenarios()


class _Cover:
    """Goes from one uncovered port to the next and plays each way on to its rest."""

    def __init__(self, flow: Flow, budget: int) -> None:
        self.flow = flow
        self.budget = budget
        self.distances = Distances(flow)
        self.open: dict[Pair, None] = {
            (name, port): None for name, step in flow.steps.items() for port in step.ways
        }
        self.first: dict[str, Node] = {}  # where each step was seen under way first
        self.max_steps = 20 + 6 * len(flow.steps)
        self.found: list[Scenario] = []
        self.missed: dict[str, str] = {}  # steps that were searched in vain, and why

    def scenarios(self) -> Scenarios:
        root = exploration.begin(self.flow)
        self.play_on(root)
        while self.open:
            node = self.next_port() or self.search(root)
            if node is None:
                break
            self.play_on(node)
        return Scenarios(self.found, self.uncovered())

    def next_port(self) -> Node | None:
        """End a step that was under way somewhere on a port that is still open."""
        for step, port in self.open:
            if step in self.first and port is not None:
                return exploration.follow(self.flow, self.first[step], Move("ends", step, port))
        return None

    # -- to rest -------------------------------------------------------------------------------------------

    def play_on(self, node: Node) -> None:
        """Go on by usual ports until the run is at rest, and keep the way as a scenario."""
        target = node.ended
        covers: list[Pair] = []
        for each in node.path():
            self.see(each, covers)
        used = Counter(pair for each in node.path() for pair in each.ended)
        came = Counter(each.move.name for each in node.path() if each.move and each.move.what == "event")
        for _ in range(self.max_steps):
            move = self.usual_move(node, used, came)
            if move is None:
                break
            node = exploration.follow(self.flow, node, move)
            used.update(node.ended)
            came[move.name] += move.what == "event"
            self.see(node, covers)
        name = self.name(covers, target)
        self.found.append(scenario_of(self.flow, name, node, covers))

    def see(self, node: Node, covers: list[Pair]) -> None:
        for pair in node.ended:
            if pair in self.open:
                del self.open[pair]
                covers.append(pair)
        for element in exploration.running(node.snapshot):
            self.first.setdefault(element.step, node)

    def usual_move(self, node: Node, used: Counter[Pair], came: Counter[str]) -> Move | None:
        snapshot = node.snapshot
        if snapshot.ended:
            return None
        under_way = exploration.running(snapshot)
        if under_way:
            step = under_way[0].step
            return Move("ends", step, self.usual_port(self.flow.steps[step], used))
        for name in waiting_for(self.flow, snapshot):
            if came[name] < COMES and exploration.may_come(self.flow, snapshot, name):
                return Move("event", name)
        return None

    def usual_port(self, step: FlowStep, used: Counter[Pair]) -> Port:
        """One that is open still, else the one least used: so a loop comes to its end."""
        ports = [port for port in step.ports if port != "failed"] or list(step.ports)
        fresh = next((port for port in ports if (step.name, port) in self.open), None)
        return fresh or min(ports, key=lambda port: used[step.name, port])

    def name(self, covers: Iterable[Pair], target: tuple[Pair, ...]) -> str:
        if not self.found:
            return "as it should go"
        step, port = next(iter([*(pair for pair in target if pair in covers), *covers, *target]))
        words = f"{step} fails" if port == "failed" else step if port is None else f"{step} ends on {port}"
        taken = {scenario.name for scenario in self.found}
        return next(name for name in _numbered(words) if name not in taken)

    # -- far-away steps ------------------------------------------------------------------------------------

    def search(self, root: Node) -> Node | None:
        """A run in which a step ends that was under way nowhere yet; None: none was found."""
        for step in dict.fromkeys(step for step, _ in self.open):
            if step not in self.missed:
                found = self.search_for(step, root)
                if found is not None:
                    return found
        return None

    def search_for(self, wanted: str, root: Node) -> Node | None:
        """Best-first: the run goes where the step comes nearest. What fails is kept with its reason."""
        search = _Search(self.flow, self.distances, wanted)
        for node in (root, *self.first.values()):
            search.add(node)
        for _ in range(min(self.budget, EACH)):
            child = search.next()
            if child is None:
                self.missed[wanted] = "cannot be reached"
                return None
            self.budget -= 1
            if any(pair in self.open for pair in child.ended):
                return child
            search.add(child)
        self.missed[wanted] = "was not found within the budget"
        return None

    def uncovered(self) -> Iterable[Uncovered]:
        return (Uncovered(step, port, self.missed[step]) for step, port in self.open)


class _Search:
    """Runs on the way to one step, those first that seem nearest to it."""

    def __init__(self, flow: Flow, distances: Distances, wanted: str) -> None:
        self._flow = flow
        self._distances = distances
        self._wanted = wanted
        self._order = count()
        self._queue: list[tuple[float, int, Node, Iterator[Move]]] = []
        self._seen: set[Hashable] = set()

    def add(self, node: Node) -> None:
        """Keep a run to go on from, unless one like it was kept before or the step is out of its reach."""
        mark = exploration.state(node.snapshot)
        if mark in self._seen:
            return
        self._seen.add(mark)
        far = self._distances.of(node.snapshot).get(self._wanted, inf)
        if far < inf:
            self._push(far + node.depth / 8, node, exploration.moves(self._flow, node))

    def next(self) -> Node | None:
        """One move further from the best run; None: all has been tried."""
        while self._queue:
            rank, _, node, left = heapq.heappop(self._queue)
            move = next(left, None)
            if move is not None:
                # Back at once: a better child overtakes it, and its other moves wait until they are wanted.
                self._push(rank, node, left)
                return exploration.follow(self._flow, node, move)
        return None

    def _push(self, rank: float, node: Node, left: Iterator[Move]) -> None:
        heapq.heappush(self._queue, (rank, next(self._order), node, left))


def _numbered(words: str) -> Iterable[str]:
    yield words
    yield from (f"{words} ({number})" for number in count(2))
