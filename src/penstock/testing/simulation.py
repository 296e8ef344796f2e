"""Many random runs of a workflow with stub tasks: what can come of it, how often, and what takes the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from msgspec import Struct

from penstock.engine.authoring.loader import Source, load
from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.decisions.quiescence import starving
from penstock.flow.model.plan import Attempt
from penstock.flow.values.duration import parse_duration
from penstock.runtime.errors import Invalid
from penstock.steps.wait import WaitBox
from penstock.testing.chain import critical_chain
from penstock.testing.executor import End
from penstock.testing.exploration import outcome_of
from penstock.testing.played_run import Play
from penstock.testing.stubbed_flow import relaxed
from penstock.testing.summary import Outcome, Summary, summarise
from penstock.testing.world import World
from penstock.workers.task import tasks_of

SECOND = 1.0


class Chances(Struct, frozen=True):
    """How a simulated run goes: shares of 1, and seconds."""

    failure: float = 0.05
    """How many firings end on `failed`, where they have that port."""
    event: float = 0.9
    """How likely each outside event comes; half of it for an optional one."""
    event_after: float = 5.0
    """The mean of the moment in which it comes."""
    seconds: float = SECOND
    """The mean time of a step without time-outs; others take a fourth of their `start_to_close`."""
    firings: int = 1_000
    """A run with more of them is cut off."""


def simulate(
    source: Source | Flow,
    runs: int = 1_000,
    seed: int = 0,
    *,
    tasks: Any = None,
    chances: Chances | None = None,
    ports: Mapping[str, Mapping[str, float]] | None = None,
) -> Summary:
    """Play `runs` random runs; the same arguments give the same summary.

    `ports` gives weights to the ports of a step: `{"review": {"approved": 9, "rejected": 1}}`. Raises
    DefinitionError, Invalid.
    """
    flow = source if isinstance(source, Flow) else load(source, {} if tasks is None else tasks_of(tasks)).flow
    if runs < 1:
        raise Invalid(f"runs={runs} is no number of runs: use 1 or more")
    odds = chances or Chances()
    habits = {name: _habit(step, odds, (ports or {}).get(name)) for name, step in flow.steps.items()}
    for name in ports or {}:
        if name not in flow.steps:
            raise Invalid(f"'{flow.name}' has no step '{name}'; its steps are {', '.join(flow.steps)}")
    net = relaxed(flow)
    outcomes = [_one(net, habits, odds, Random(f"{seed}/{number}")) for number in range(runs)]
    return summarise(flow.name, seed, list(flow.steps), outcomes)


class _Habit(Struct, frozen=True):
    """How one step goes: its ports with their weights summed up, and its time."""

    ports: tuple[str, ...]
    weights: tuple[float, ...]
    mean: float
    max_seconds: float | None = None
    exact: timedelta | None = None


def _habit(step: FlowStep, odds: Chances, given: Mapping[str, float] | None) -> _Habit:
    weights = _weights(step, odds, given)
    limit = step.timeouts.start_to_close or step.timeouts.schedule_to_close
    max_seconds = None if limit is None else limit.total_seconds()
    mean = odds.seconds if max_seconds is None else max_seconds / 4
    return _Habit(tuple(weights), tuple(weights.values()), mean, max_seconds, _waits(step))


def _weights(step: FlowStep, odds: Chances, given: Mapping[str, float] | None) -> dict[str, float]:
    if given is not None:
        unknown = [port for port in given if port not in step.ports]
        if unknown or not sum(given.values()) > 0 or min(given.values()) < 0:
            raise Invalid(
                f"the weights of step '{step.name}' must be 0 or more, for its ports {', '.join(step.ports)}"
            )
        return dict(given)
    good = [port for port in step.ports if port != "failed"]
    weights = {port: (1 - odds.failure) / len(good) for port in good}
    if "failed" in step.ports:
        weights["failed"] = odds.failure if good else 1.0
    return weights


def _waits(step: FlowStep) -> timedelta | None:
    """A `wait` for a duration that the definition says takes exactly that."""
    box = step.box
    if isinstance(box, WaitBox) and not box.until and box.time.constant:
        return parse_duration(box.time({}))
    return None


class _Chance:
    """Plays tasks at random."""

    def __init__(self, habits: Mapping[str, _Habit], random: Random) -> None:
        self.habits = habits
        self.random = random
        self.firings = 0

    def decide(self, attempt: Attempt, number: int, now: datetime) -> End:
        self.firings += 1
        habit = self.habits[attempt.step]
        port = self.random.choices(habit.ports, habit.weights)[0]
        if habit.exact is not None:
            return habit.exact, outcome_of(port)
        seconds = self.random.expovariate(1 / habit.mean) if habit.mean else 0.0
        return timedelta(seconds=min(seconds, habit.max_seconds or seconds)), outcome_of(port)


def _one(flow: Flow, habits: Mapping[str, _Habit], odds: Chances, random: Random) -> Outcome:
    """One run, until it has ended, is stuck, waits for what will not come, or is cut off."""
    world, chance = World(), _Chance(habits, random)
    run = world.begin(flow, chance)
    coming = _let_come(world, run, odds, random)
    while not run.snapshot.ended and chance.firings <= odds.firings:
        stuck = run.snapshot.status == "stalled" and not any(moment > world.now for moment in coming)
        if stuck or not world.clock.step():
            break
    return _outcome(run, chance.firings > odds.firings)


def _let_come(world: World, run: Play, odds: Chances, random: Random) -> list[datetime]:
    """Choose which outside events come, and when."""
    moments = []
    for name, event in run.flow.outside.items():
        likely = odds.event / 2 if event.optional else odds.event
        while random.random() < likely:
            moment = world.now + timedelta(seconds=random.expovariate(1 / odds.event_after))
            moments.append(moment)
            world.emit_at(moment, run, name)
            if not event.many:
                break
            likely = 0.5
    return moments


def _outcome(run: Play, cut: bool) -> Outcome:
    snapshot = run.snapshot
    history = run.history
    begun, over = snapshot.started_at, snapshot.ended_at or run.now
    assert begun is not None
    stuck = snapshot.status == "stalled" and not cut
    return Outcome(
        "cut off" if cut and not snapshot.ended else snapshot.status,
        (over - begun).total_seconds(),
        snapshot.ended,
        {name: state.firings for name, state in snapshot.steps.items()},
        Counter((entry.step, entry.port) for entry in history if entry.kind == "ended" and entry.step),
        tuple((each.step, each.missing) for each in starving(run.flow, snapshot)) if stuck else (),
        tuple(critical_chain(history)) if snapshot.status in ("succeeded", "failed") else (),
    )
