"""A run that is played through in memory comes to what the rules alone come to."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import MAX_INLINE_ATTEMPTS, Do, advance_through
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.plan import Attempt, Plan
from penstock.flow.model.run import Failure, Header, RunId, Snapshot
from penstock.flow.model.run_input import Begun, Done, Failed, RunInput
from penstock.runtime.decisions.fast.fast_path import plain_plan
from penstock.runtime.inmemory import inline_run
from penstock.runtime.inmemory.inline_run import play_through
from tests.flow import test_laws as laws
from tests.flow.driver import START_TIME, flow_of
from tests.runtime.test_fast_path import CHAIN, plain_flow

Play = Callable[[Flow, Snapshot, list[RunInput], Any, Do], Plan]
ENOUGH = 60
"""Attempts after which every one fails: a loop must come to its end."""


def does(seed: int, rare: float) -> Do:
    """Ends attempts by chance, and the same attempt of the same run always in the same way."""
    calls = 0

    def do(attempt: Attempt) -> Done | Failed:
        nonlocal calls
        calls += 1
        chance = random.Random(f"{seed} {attempt.firing} {attempt.index} {attempt.attempt}")
        if calls > ENOUGH or chance.random() < rare / 2:
            return Failed(error=Failure("error", "no"), retry=False)
        if chance.random() < rare:
            return Done(output=1, set={"k": attempt.firing}, tags={"t": attempt.step})
        return Done(output=chance.choice([None, {"n": 1}, "text", []]))

    return do


def played(play: Play, flow: Flow, begun: Begun, do: Do) -> Plan:
    """The plan, without the number of decisions that it took."""
    run = new_run(Header(id=RunId("run"), workflow=flow.name, input={"x": 1}))
    plan = play(flow, run, [begun], START_TIME, do)
    return replace(plan, snapshot=replace(plan.snapshot, revision=0))


@pytest.mark.parametrize("rare", [0.0, 0.1])
@pytest.mark.parametrize(("flow_by", "least"), [(plain_flow, 80), (laws.random_flow, 5)])
def test_it_comes_to_what_the_rules_come_to(
    flow_by: Callable[[random.Random], Flow], least: int, rare: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain: list[Plan | None] = []

    def noted(*given: Any) -> Plan | None:
        plain.append(plain_plan(*given))
        return plain[-1]

    monkeypatch.setattr(inline_run, "plain_plan", noted)

    for seed in range(150):
        chance = random.Random(seed)
        flow, begun = flow_by(chance), Begun(chance.choice([{}, {}, {"tag": 1}]))

        found = played(play_through, flow, begun, does(seed, rare))

        assert found == played(advance_through, flow, begun, does(seed, rare))

    assert sum(plan is not None for plan in plain) >= least, "the fast path was hardly gone"


def test_a_chain_takes_one_decision_for_each_end() -> None:
    done: list[str] = []

    def do(attempt: Attempt) -> Done:
        done.append(attempt.step)
        return Done(output=len(done))

    plan = played(play_through, flow_of(CHAIN), Begun(), do)

    assert (plan.snapshot.status, done) == ("succeeded", ["a", "b", "c"])
    assert plan.answers == ["accepted"]


def test_a_loop_without_end_leaves_what_it_has_not_done() -> None:
    calls = 0

    def do(attempt: Attempt) -> Done:
        nonlocal calls
        calls += 1
        return Done()

    plan = played(play_through, flow_of("a: {task: t, after: ['START | a']}"), Begun(), do)

    assert MAX_INLINE_ATTEMPTS <= calls <= 2 * MAX_INLINE_ATTEMPTS
    assert [attempt.step for attempt in plan.attempts] == ["a"]
