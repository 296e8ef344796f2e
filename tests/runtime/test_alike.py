"""Runs that are alike are decided about together: each gets the very plan and change that it gets by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.engine.authoring.load import load
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import new_run
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Header, RunId
from penstock.flow.model.run_input import Begun, Done, Outcome, Reported
from penstock.runtime.decisions.decision import Decision, SlotReservation
from penstock.runtime.decisions.fast.batch_memo import BatchMemo
from penstock.runtime.decisions.plan_to_change import decide, write_down
from penstock.runtime.decisions.request import Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import Lease
from tests.flow.driver import flow_of
from tests.flow.test_straight import CHAIN, plain_flow

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class _Desk:
    def __init__(self, worker: str) -> None:
        self.worker = worker


class _Desks:
    """Every run has its own way of being served, the same whenever it is asked about."""

    def reserve(self, attempt: Attempt) -> SlotReservation | None:
        chance = random.Random(f"{attempt.run.id}.{attempt.firing}").random()
        return None if chance < 0.1 else _Desk("here" if chance < 0.8 else "there")

    def free(self, desks: Sequence[tuple[Attempt, SlotReservation]]) -> None:
        """Nothing was promised."""


class Fleet:
    """Some runs, decided about in batches, and each of them a second time by itself."""

    def __init__(self, flow: Flow, headers: Sequence[dict[str, Any]]) -> None:
        self.flow, self.now, self.followers = flow, NOW, 0
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
        together, made = BatchMemo(), []
        for run in runs:
            request, (live, lone) = self.waiting[run].pop(0), self.pairs[run]
            first = len(together.moves)
            decision = decide(live, [request], self.now, together)
            self.followers += decision.move is not None and len(together.moves) == first
            made.append((decision, decide(lone, [request], self.now, BatchMemo())))
        for decision, alone in made:
            write_down(decision, _Desks(), together)
            write_down(alone, _Desks(), BatchMemo())
            assert decision.plan == alone.plan
            assert decision.change == alone.change
            for each in (decision, alone):
                each.live.snapshot, each.live.state = each.plan.snapshot, each.state
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


def test_a_lease_of_another_fence_ends_under_its_own() -> None:
    fleet = Fleet(flow_of(CHAIN), [{}] * 3)
    runs = list(fleet.pairs)
    for fence, decision in enumerate(fleet.turn(runs), 7):
        fleet.report(decision, Done(), fence)
    ended = [decision.change.ended[0].fence for decision in fleet.turn(runs) if decision.change]

    assert ended == [7, 8, 9]


OUTCOMES: tuple[Outcome, ...] = (
    Done(output={"n": 1}),
    Done(output="x" * 5_000),
    Done(set={"k": 1}),
    Done(tags={"t": 1}),
    Done(correlate={"k": "v"}),
)


@pytest.mark.parametrize("block", range(4))
def test_whatever_else_happens_each_gets_what_it_would_get_alone(block: int) -> None:
    followers = 0
    for seed in range(block * 50, block * 50 + 50):
        chance = random.Random(seed)
        inputs = [chance.choice([None, None, {"x": 1}, {"text": "i" * 5_000}]) for _ in range(6)]
        fleet = Fleet(plain_flow(chance), [{"input": each} for each in inputs])
        for _ in range(40):
            ready = [run for run, waits in fleet.waiting.items() if waits and chance.random() < 0.95]
            for decision in fleet.turn(ready):
                outcome = Done() if chance.random() < 0.97 else chance.choice(OUTCOMES)
                fleet.report(decision, outcome)
                if chance.random() < 0.1:
                    chance.shuffle(fleet.waiting[decision.plan.snapshot.run.id])
        followers += fleet.followers

    assert followers > 100, "hardly any run followed another: the test says little"


def test_a_definition_that_is_loaded_twice_is_two() -> None:
    text = "penstock: 1\nname: one\nsteps:\n  a: {task: t}\n"
    first, second = load(text).flow, load(text).flow

    assert BatchMemo().state(first, b"head") is not None
    alike = BatchMemo()
    head, again = bytes(bytearray(b"head")), bytes(bytearray(b"head"))
    assert alike.state(first, head) is alike.state(first, again)
    assert alike.state(second, again) is again
