"""Laws of running, on random workflows driven at random: they hold after every decision, and are awake for bugs.

`Drive.happen` asserts of every plan that it is pure, that its history is gap-free, and that the fold of the whole
history is the marking. Here the rest is added: nothing leaks, and the status says what is so.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions import advance as advance_module
from penstock.flow.decisions import begin, end, finish, withdraw
from penstock.flow.decisions.emit import put_token
from penstock.flow.model.run import ENDED
from penstock.flow.model.run_input import Begun, Disabled, Done, Paused, Reported, Resumed, Retried
from penstock.flow.views.replay import BrokenHistory
from penstock.kernel.marking import Token
from tests.flow.driver import Drive, flow_of

NAMES = ["a", "b", "c", "d", "e"]
EVENTS = ["START", "x", "y", "z", "out", "more", *NAMES]


def random_flow(chance: random.Random) -> Flow:
    names = NAMES[: chance.randint(2, 5)]
    lines = []
    for name in names:
        keys = [_task(chance), _after(chance, names)]
        keys += [f"cancels: [{chance.choice(names)}]"] if chance.random() < 0.15 else []
        keys += [f"retries: {chance.randint(0, 2)}"] if chance.random() < 0.4 else []
        keys += [f"parallel: {chance.randint(1, 3)}"] if chance.random() < 0.2 else []
        keys += ["serialize: '1'"] if chance.random() < 0.15 else []
        keys += ["each: '[1, 2, 3]'"] if chance.random() < 0.15 and "decide" not in keys[0] else []
        keys += ["each_failure: collect"] if "each: '[1, 2, 3]'" in keys and chance.random() < 0.5 else []
        lines.append(f"{name}: {{{', '.join(keys)}}}")
    head = "external: [out, {name: more, many: true}]\n"
    head += f"on_failure: {chance.choice(['fail', 'continue'])}\n"
    head += "timeout: 1h" if chance.random() < 0.3 else ""
    return flow_of("\n".join(lines), head)


def _task(chance: random.Random) -> str:
    if chance.random() < 0.15:
        ports = f"{{then: [{_event(chance)}], else: [{_event(chance)}]}}"
        return f"task: decide, with: {{if: '{chance.choice(['true', 'false', '1'])}'}}, emits: {ports}"
    fails = f", fails: {_event(chance)}" if chance.random() < 0.4 else ""
    return f"task: t, emits: [{_event(chance)}]{fails}"


def _event(chance: random.Random) -> str:
    return chance.choice(["x", "y", "z", "x", "y", "z", "OK", "FAIL", "CANCEL"])


def _after(chance: random.Random, names: list[str]) -> str:
    known = [event for event in EVENTS if event not in NAMES or event in names] + ["FAIL", "CANCEL"]
    slots = []
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind = chance.random()
        if kind < 0.6:
            slots.append(chance.choice(known))
        elif kind < 0.85:
            slots.append(f'"{" | ".join(chance.sample(known, 2))}"')
        else:
            slots.append(f"{{need: {chance.randint(1, 2)}, of: [{', '.join(chance.sample(known, 3))}]}}")
    return f"after: [{', '.join(slots)}]"


def check(run: Drive) -> None:
    """What must hold after every decision."""
    now = run.snapshot
    live = {number for state in now.steps.values() for number in state.live}
    assert live == set(now.firings)
    assert all(firing in now.firings for firing, _ in now.elements)
    for number, firing in now.firings.items():
        assert number in now.steps[firing.step].live
        assert any(key[0] == number for key in now.elements), "a firing has nothing under way"
        step = run.flow.steps[firing.step]
        assert len(now.steps[firing.step].live) <= (1 if step.each else step.parallel or 1)
    running = {(task.firing, task.index) for task in run.tasks.values()}
    assert running == {key for key, element in now.elements.items() if element.state == "running"}
    if now.status == "running" and not run.plans[-1].unfinished:
        assert now.firings, "the run says that it runs, and nothing moves"
    if now.status in ENDED:
        assert not now.firings
        assert not run.tasks
        assert not run.locks.holders("a/1")
        assert run.history[-1].kind in ("run_ended", "withdrawn")
    elif now.status in ("waiting", "stalled"):
        assert not now.firings
        assert now.ending is None
    for name, state in now.steps.items():
        assert state.firings == run.fired(name)


def one_move(run: Drive, chance: random.Random) -> None:
    tasks = sorted(run.tasks)
    moves: list[Callable[[], Any]] = [
        lambda: run.event("out", id=chance.choice([None, "1"])),
        lambda: run.event("more"),
    ]
    if tasks:
        task = chance.choice(tasks)
        moves += [lambda: run.done(task, {"n": 1}, set={"k": 1}, tags={"t": task})] * 6
        moves += [lambda: run.fail(task), lambda: run.time_out(task)] * 2
        stale = run.tasks[task]
        late = Reported(stale.firing, stale.index, stale.attempt + chance.choice([-1, 1]), Done())
        moves.append(lambda: run.happen(late))
    if run.timers:
        moves += [run.ring] * 2
    rare = chance.random()
    if rare < 0.04:
        moves = [lambda: run.cancel(force=chance.random() < 0.3)]
    elif rare < 0.08:
        moves = [lambda: run.happen(Paused())]
    elif rare < 0.16:
        moves = [lambda: run.happen(Resumed())]
    elif rare < 0.22 or run.status == "failed":
        moves = [lambda: run.happen(Retried())]
    elif rare < 0.24:
        moves = [lambda: run.happen(Disabled("a"))]
    chance.choice(moves)()


def play(seed: int, moves: int = 30) -> Drive:
    chance = random.Random(seed)
    run = Drive(random_flow(chance), begin=False)
    run.patience = 0
    run.happen(Begun())
    for _ in range(moves):
        check(run)
        if run.snapshot.seq > 600:
            break
        one_move(run, chance)
    check(run)
    return run


@pytest.mark.parametrize("block", range(8))
def test_the_laws_hold_on_random_workflows(block: int) -> None:
    seen = {play(seed).status for seed in range(block * 40, block * 40 + 40)}

    assert len(seen) > 2, "the random runs all ended alike: the test says little"


def skip(*_: Any, **__: Any) -> None:
    return None


def unrecorded(turn: Any, name: str, origin: Any, firing: int | None = None) -> None:
    put_token(turn, Token(turn.seq, name, origin))


def unfenced(turn: Any, reported: Any) -> Any:
    element = turn.elements.get((reported.firing, reported.index))
    if element is None:
        return "superseded"
    fenced = Reported(reported.firing, reported.index, element.attempt, reported.outcome)
    return REAL_REPORT(turn, fenced)


REAL_REPORT = finish.report
PLANTED: dict[str, list[tuple[Any, Any, Any]]] = {
    "withdrawn elements are forgotten": [
        (withdraw, "withdraw_elements", skip),
        (finish, "withdraw_elements", skip),
    ],
    "a cancelled step keeps its events": [(begin, "withdraw_step", skip)],
    "an ended run keeps its firings": [(end, "withdraw_all", skip)],
    "a report needs no attempt number": [(advance_module._RULES, Reported, unfenced)],
    "a firing that ended stays": [(finish, "close_firing", skip)],
    "an event is fired and not recorded": [(finish, "put_event", unrecorded)],
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for target, name, wrong in PLANTED[bug]:
        if isinstance(target, dict):
            monkeypatch.setitem(target, name, wrong)
        else:
            monkeypatch.setattr(target, name, wrong)

    with pytest.raises((AssertionError, KeyError, BrokenHistory)):
        for seed in range(120):
            play(seed)
