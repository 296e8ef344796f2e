"""One generated run of a workflow: which step ends on which port, which events come, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt
from penstock.testing.executor import End
from penstock.testing.exploration import Move, Node, Pair, Port, outcome_of
from penstock.testing.played_run import Play
from penstock.testing.world import World

PACE = timedelta(seconds=1)


class Script:
    """Plays tasks so that they end at the moments that a scenario says; others never end."""

    def __init__(self, ends: Iterable[tuple[Move, datetime]]) -> None:
        self._ends = {move.firing: (move.port, moment) for move, moment in ends}

    def decide(self, attempt: Attempt, number: int, now: datetime) -> End:
        port, moment = self._ends.get(attempt.firing, (None, now))
        return moment - now if attempt.firing in self._ends else None, outcome_of(port)


class Scenario(Struct, frozen=True):
    """A run that was thought out. Steps end as it says: data, conditions, retries and keys play no part."""

    name: str
    status: str
    """How the run ends; `running` where it goes on for ever and was cut off."""
    outcomes: dict[str, list[Port]]
    """Step → the ports of its firings, in order."""
    events: list[str]
    """The outside events that come, in order; CANCEL and TIMEOUT among them."""
    covers: tuple[Pair, ...]
    """The steps and ports that no scenario before this one covers."""
    moves: tuple[Move, ...]
    flow: Flow

    def play(self) -> Play:
        """Play it on the engine, one move a second of virtual time."""
        world = World()
        begun = world.now
        moments = [begun + span for span in self._spans()]
        timed = list(zip(self.moves, moments, strict=True))
        run = world.begin(self.flow, Script(pair for pair in timed if pair[0].what == "ends"), playing=True)
        for move, moment in timed:
            if move.what == "event":
                world.emit_at(moment, run, move.name)
            elif move.what == "cancel":
                world.clock.at(moment, lambda: world.host.cancel(run.id))
        if moments:
            world.clock.advance(moments[-1] - begun)
        return run

    def _spans(self) -> list[timedelta]:
        """When each move comes, from the start; fast enough that no time-out of the run comes by itself."""
        limits = [limit for limit in (self.flow.timeout, self.flow.cleanup_timeout) if limit]
        pace = min([PACE, *(limit / (len(self.moves) + 1) for limit in limits)])
        spans, at = [], timedelta(0)
        for move in self.moves:
            at = self.flow.timeout if move.what == "timeout" and self.flow.timeout else at + pace
            spans.append(at)
        return spans

    def __str__(self) -> str:
        return self.name


class Uncovered(Struct, frozen=True):
    """A step and a port that no scenario covers, and why."""

    step: str
    port: Port
    reason: str


class Scenarios(list[Scenario]):
    """Scenarios in the order in which they were found, and what they leave `uncovered`."""

    def __init__(self, found: Iterable[Scenario], uncovered: Iterable[Uncovered]) -> None:
        super().__init__(found)
        self.uncovered = tuple(uncovered)

    def named(self, name: str) -> Scenario:
        """The scenario of that name. Raises KeyError."""
        for scenario in self:
            if scenario.name == name:
                return scenario
        raise KeyError(f"there is no scenario '{name}'; there are {', '.join(map(str, self))}")


def scenario_of(flow: Flow, name: str, last: Node, covers: Iterable[Pair]) -> Scenario:
    """The scenario of a path through the token game."""
    outcomes: dict[str, list[Port]] = {}
    nodes = last.path()
    for node in nodes:
        for step, port in node.ended:
            outcomes.setdefault(step, []).append(port)
    moves = tuple(node.move for node in nodes if node.move is not None)
    words = {"event": None, "cancel": "CANCEL", "timeout": "TIMEOUT"}
    events = [words[move.what] or move.name for move in moves if move.what in words]
    return Scenario(name, last.snapshot.status, outcomes, events, tuple(covers), moves, flow)
