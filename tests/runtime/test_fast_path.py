"""The fast path gives the very plan and the very change of the rules, or nothing: on plain workflows, and on any.

The rules are the oracle: `ByRules` leaves every decision to `advance` and every change to `plan_to_change`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.engine.authoring.loader import load
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Header, RunId
from penstock.flow.model.run_input import (
    Begun,
    Disabled,
    Done,
    Outcome,
    Paused,
    Reported,
    Resumed,
    Retried,
    RunInput,
)
from penstock.runtime.decisions.decision import Decision, Request, Reservation
from penstock.runtime.decisions.fast.fast_path import FastPath, plain_plan
from penstock.runtime.decisions.plan_to_change import decide, follows_alone, write_down
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import Lease
from tests.flow import test_laws as laws
from tests.flow.driver import Drive, flow_of

CHAIN = "a: {task: t}\nb: {task: t, after: [a]}\nc: {task: t, after: [b]}"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def plain_flow(chance: random.Random) -> Flow:
    """Steps of which most wait for one event: chains, forks, loops, joins, goals."""
    names = laws.NAMES[: chance.randint(1, 5)]
    lines = []
    for name in names:
        known = ["START", *names, *(f"{other}.done" for other in names)]
        slots = [chance.choice(known) for _ in range(chance.choice([1, 1, 1, 1, 2]))]
        if chance.random() < 0.2:
            slots[0] = f"'{' | '.join(chance.sample(known, 2))}'"
        keys = ["task: t", f"after: [{', '.join(slots)}]"]
        keys += ["emits: {done: [OK]}"] if chance.random() < 0.15 else []
        keys += [f"parallel: {chance.randint(1, 3)}"] if chance.random() < 0.2 else []
        keys += ["disabled: true"] if chance.random() < 0.1 else []
        keys += ["with: {n: 1}"] if chance.random() < 0.3 else []
        keys += ["with: {n: '${data}'}"] if "with: {n: 1}" not in keys and chance.random() < 0.1 else []
        keys += ["task_list: other, priority: 5"] if chance.random() < 0.1 else []
        lines.append(f"{name}: {{{', '.join(keys)}}}")
    if not any("START" in line for line in lines):
        lines.append("first: {task: t}")
    head = chance.choice(["", "", "", "result: data", "external: [out]", "timeout: 1h"])
    return flow_of("\n".join(lines), head)


class ByRules(FastPath):
    """Never the fast path."""

    def decide(self, live: CachedRun, requests: Sequence[Request], now: datetime) -> None:
        """The rules decide."""


class Noted(FastPath):
    """Counts the decisions that it makes."""

    made: int = 0

    def decide(self, live: CachedRun, requests: Sequence[Request], now: datetime) -> Decision | None:
        decision = super().decide(live, requests, now)
        self.made += decision is not None
        return decision


class _Slot:
    def __init__(self, worker: str) -> None:
        self.worker = worker


class _Slots:
    """Every run has its own way of being served, the same whenever it is asked about."""

    def reserve(self, attempt: Attempt) -> Reservation | None:
        chance = random.Random(f"{attempt.run.id}.{attempt.firing}").random()
        return None if chance < 0.1 else _Slot("here" if chance < 0.8 else "there")

    def free(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """Nothing was promised."""


class Fleet:
    """Some runs, decided about in batches, and each of them a second time by the rules alone."""

    def __init__(self, flow: Flow, headers: Sequence[dict[str, Any]]) -> None:
        self.flow, self.now, self.followers, self.fast = flow, NOW, 0, 0
        self.pairs: dict[str, tuple[CachedRun, CachedRun]] = {}
        self.waiting: dict[str, list[Request]] = {}
        for number, more in enumerate(headers):
            run = RunId(f"{number:020}")
            snapshot = new_run(Header(id=run, workflow=flow.name, **more))
            self.pairs[run] = CachedRun(flow, snapshot), CachedRun(flow, snapshot)
            self.waiting[run] = [Request(run, Begun(), new=snapshot, latest=1)]

    def turn(self, runs: Sequence[str]) -> list[Decision]:
        """One batch: whatever waits first of each of these runs."""
        self.now += SECOND
        together, made = Noted(), []
        for run in runs:
            request, (live, lone) = self.waiting[run].pop(0), self.pairs[run]
            decision = decide(live, [request], self.now, together)
            self.followers += decision.first is not None
            made.append((decision, decide(lone, [request], self.now, ByRules())))
        for decision, alone in made:
            write_down(decision, _Slots(), together)
            write_down(alone, _Slots(), ByRules())
            assert decision.plan == alone.plan
            assert decision.change == alone.change
            for each in (decision, alone):
                each.live.snapshot, each.live.state = each.plan.snapshot, each.state
        self.fast += together.made
        return [decision for decision, _ in made]

    def report(self, decision: Decision, outcome: Outcome, fence: int = 1) -> None:
        for attempt in decision.plan.attempts:
            run = attempt.run.id
            done = Reported(attempt.firing, None, attempt.attempt, outcome)
            lease = Lease(run, attempt.firing, WHOLE, attempt.attempt, fence)
            self.waiting[run].append(Request(run, done, None, lease))

    def play(self) -> None:
        """All of them at once, to their ends, with tasks that answer nothing."""
        while ready := [run for run, requests in self.waiting.items() if requests]:
            for decision in self.turn(ready):
                self.report(decision, Done())

    @property
    def statuses(self) -> set[str]:
        return {live.snapshot.status for live, _ in self.pairs.values()}


def test_runs_that_carry_nothing_follow_the_first_one() -> None:
    fleet = Fleet(flow_of(CHAIN), [{}] * 5)
    fleet.play()

    assert fleet.statuses == {"succeeded"}
    assert fleet.followers == 4 * 4


def test_runs_with_an_input_follow_as_soon_as_only_their_header_has_it() -> None:
    fleet = Fleet(flow_of(CHAIN), [{"input": {"n": number}} for number in range(5)])
    fleet.play()

    assert fleet.followers == 4 * 2, "where they begin, and where the first step ends, it is in their events"
    assert {live.snapshot.result["n"] for live, _ in fleet.pairs.values()} == set(range(5))


def test_runs_of_two_workflows_do_not_follow_each_other() -> None:
    one, other = flow_of(CHAIN), flow_of(CHAIN)
    fleet = Fleet(one, [{}] * 2)
    snapshot = new_run(Header(id=RunId("z" * 20), workflow=other.name))
    fleet.pairs["z" * 20] = CachedRun(other, snapshot), CachedRun(other, snapshot)
    fleet.waiting["z" * 20] = [Request("z" * 20, Begun(), new=snapshot, latest=1)]
    fleet.play()

    assert fleet.followers == 4


@pytest.mark.parametrize(
    "more", [{"parent": "p"}, {"labels": {"a": "b"}}, {"subject": "s"}, {"tags": {"a": 1}}, {"by": "me"}]
)
def test_a_run_that_has_more_of_its_own_gets_what_it_would_get_alone(more: dict[str, Any]) -> None:
    fleet = Fleet(flow_of(CHAIN), [{}, more, {}, more])
    fleet.play()

    assert fleet.statuses == {"succeeded"}


def test_equal_runs_that_publish_notices_each_publish_their_own() -> None:
    fleet = Fleet(flow_of(CHAIN, "notify: [{bus: main, topic: t, events: a}]"), [{}] * 3)
    fleet.play()

    assert fleet.statuses == {"succeeded"}
    assert fleet.fast > 0


def test_a_lease_of_another_fence_ends_under_its_own() -> None:
    fleet = Fleet(flow_of(CHAIN), [{}] * 3)
    runs = list(fleet.pairs)
    for fence, decision in enumerate(fleet.turn(runs), 7):
        fleet.report(decision, Done(), fence)
    ended = [decision.change.ended[0].fence for decision in fleet.turn(runs) if decision.change]

    assert ended == [7, 8, 9]


FORKED = """
a: {task: t}
b: {task: t, after: [a], with: {n: 1}, timeouts: {schedule_to_close: 1m}}
c: {task: t, after: [a]}
d: {task: t, after: [b]}
"""


@pytest.mark.parametrize(
    "more", [{}, {"labels": {"x": "y"}}, {"parent": "p"}, {"input": {"text": "i" * 5_000}}]
)
def test_what_took_the_fast_path_is_written_as_all_else_is(more: dict[str, Any]) -> None:
    fleet = Fleet(flow_of(FORKED), [more])
    [run] = fleet.pairs
    outputs = iter([None, {"text": "x" * 5_000}, [1], "small", "last"])
    while fleet.waiting[run]:
        [decision] = fleet.turn([run])
        fleet.report(decision, Done(output=next(outputs)))

    assert fleet.statuses == {"succeeded"}
    assert fleet.fast == 5


OUTCOMES: tuple[Outcome, ...] = (
    Done(output={"n": 1}),
    Done(output="x" * 5_000),
    Done(set={"k": 1}),
    Done(tags={"t": 1}),
    Done(correlate={"k": "v"}),
)


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize(("flow_by", "least"), [(plain_flow, 100), (laws.random_flow, 0)])
def test_whatever_else_happens_each_gets_what_the_rules_say(
    block: int, flow_by: Callable[[random.Random], Flow], least: int
) -> None:
    followers = 0
    for seed in range(block * 50, block * 50 + 50):
        chance = random.Random(seed)
        inputs = [chance.choice([None, None, {"x": 1}, {"text": "i" * 5_000}]) for _ in range(6)]
        fleet = Fleet(flow_by(chance), [{"input": each} for each in inputs])
        for _ in range(40):
            ready = [run for run, waits in fleet.waiting.items() if waits and chance.random() < 0.95]
            for decision in fleet.turn(ready):
                outcome = Done() if chance.random() < 0.97 else chance.choice(OUTCOMES)
                fleet.report(decision, outcome)
                if chance.random() < 0.1:
                    chance.shuffle(fleet.waiting[decision.plan.snapshot.run.id])
        followers += fleet.followers

    assert followers >= least, "hardly any run followed another: the test says little"


def test_a_definition_that_is_loaded_twice_is_two() -> None:
    text = "penstock: 1\nname: one\nsteps:\n  a: {task: t}\n"
    fleet = Fleet(load(text).flow, [{}])
    snapshot = new_run(Header(id=RunId("z" * 20), workflow="one"))
    other = load(text).flow
    fleet.pairs["z" * 20] = CachedRun(other, snapshot), CachedRun(other, snapshot)
    fleet.waiting["z" * 20] = [Request("z" * 20, Begun(), new=snapshot, latest=1)]
    fleet.play()

    assert fleet.followers == 0


# -- the plan by itself, whatever happens ----------------------------------------------------------------------


class Beside(Drive):
    """A run that is decided about both ways."""

    def __init__(self, flow: Flow, **more: Any) -> None:
        self.went: list[bool] = []
        super().__init__(flow, **more)

    def happen(self, *occurrences: RunInput) -> str:
        if len(occurrences) == 1:
            plan = plain_plan(self.flow, self.snapshot, occurrences[0], self.now)
            self.went.append(plan is not None)
            if plan is not None:
                assert plan == advance(self.flow, self.snapshot, occurrences, self.now)
                assert follows_alone(plan)
        return super().happen(*occurrences)


def move(run: Beside, chance: random.Random) -> None:
    if not run.tasks:
        run.happen(Retried())
        return
    task, rare = chance.choice(sorted(run.tasks)), chance.random()
    if rare < 0.85:
        run.done(task, chance.choice([None, {"n": 1}, "text", []]))
    elif rare < 0.88:
        run.done(task, None, set=chance.choice([{}, {"k": 1}]), tags={"t": task})
    elif rare < 0.92:
        run.fail(task)
    elif rare < 0.96:
        run.happen(Paused() if chance.random() < 0.5 else Resumed())
    else:
        run.happen(Disabled(chance.choice(list(run.flow.steps))))


@pytest.mark.parametrize("block", range(6))
def test_a_plain_plan_is_that_of_the_rules(block: int) -> None:
    went: list[bool] = []
    for seed in range(block * 60, block * 60 + 60):
        chance = random.Random(seed)
        run = Beside(plain_flow(chance), input=chance.choice([None, {"x": 1}]), begin=False)
        run.patience = 0
        run.happen(Begun(chance.choice([{}, {}, {"tag": 1}])))
        for _ in range(25):
            if run.snapshot.seq < 300:
                move(run, chance)
        went += run.went

    assert sum(went) > 40, "the fast path was hardly gone: the test says little"


@pytest.mark.parametrize("block", range(4))
def test_on_any_workflow_it_is_that_of_the_rules_or_none(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "Drive", Beside)
    for seed in range(block * 40, block * 40 + 40):
        laws.play(seed)


def test_a_chain_stays_on_the_fast_path_from_its_beginning_to_its_end() -> None:
    run = Beside(flow_of(CHAIN))
    for task in "abc":
        run.done(task, {"by": task})

    assert run.status == "succeeded"
    assert run.went == [True] * 4


def test_a_report_of_another_attempt_is_left_to_the_rules() -> None:
    run = Beside(flow_of(CHAIN))
    task = run.tasks["a"]
    run.happen(Reported(task.firing, None, task.attempt + 1, Done()))

    assert run.went == [True, False]
