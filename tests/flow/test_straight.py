"""The straight way gives the very plan of the rules, or nothing: on plain workflows, and on any."""

from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.fast_path import straight
from penstock.flow.model.run_input import (
    Begun,
    Disabled,
    Done,
    Paused,
    Reported,
    Resumed,
    Retried,
    RunInput,
)
from tests.flow import test_laws as laws
from tests.flow.driver import Drive, flow_of

CHAIN = "a: {task: t}\nb: {task: t, after: [a]}\nc: {task: t, after: [b]}"


class Beside(Drive):
    """A run that is decided about both ways."""

    def __init__(self, flow: Flow, **more: Any) -> None:
        self.went: list[bool] = []
        super().__init__(flow, **more)

    def happen(self, *occurrences: RunInput) -> str:
        if len(occurrences) == 1:
            plan = straight(self.flow, self.snapshot, occurrences[0], self.now)
            self.went.append(plan is not None)
            if plan is not None:
                assert plan == advance(self.flow, self.snapshot, occurrences, self.now)
                assert plan.is_plain
        return super().happen(*occurrences)


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
def test_a_straight_plan_is_that_of_the_rules(block: int) -> None:
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

    assert sum(went) > 40, "the straight way was hardly gone: the test says little"


@pytest.mark.parametrize("block", range(4))
def test_on_any_workflow_it_is_that_of_the_rules_or_none(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "Drive", Beside)
    for seed in range(block * 40, block * 40 + 40):
        laws.play(seed)


def test_a_chain_goes_straight_from_its_beginning_to_its_end() -> None:
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
