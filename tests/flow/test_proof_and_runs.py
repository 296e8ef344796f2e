"""What `check` says before, runs do after: every state that `advance` itself can reach, against the proof.

The proof works on counts and reductions; here the real decision is driven through every port of every step and every
arrival of every outside event, so that the two cannot share a mistake.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.flow.checks.checks import check_flow
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.run import Failure, Header, RunId, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    Canceled,
    Done,
    Failed,
    Outside,
    Reported,
    RunInput,
    RunTimedOut,
)
from penstock.kernel.net import CANCEL, FAIL, TIMEOUT
from penstock.steps.kinds import OFFERS
from tests.flow.driver import START_TIME, flow_of

MOST = 1_500
END_EVENTS = {FAIL, CANCEL, TIMEOUT}


def shape(snapshot: Snapshot) -> Any:
    """What matters of a state: where events wait, in order, what runs, what came, how it would end."""
    waiting = tuple(
        sorted(
            (str(place), tuple(token.name for token in queue))
            for place, queue in snapshot.marking.tokens.items()
        )
    )
    owed = tuple(sorted((str(debt), count) for debt, count in snapshot.marking.owed.items()))
    active = tuple(sorted((step, len(state.live)) for step, state in snapshot.steps.items() if state.live))
    ends = (snapshot.status, snapshot.ending, snapshot.ok, bool(snapshot.put_off))
    return waiting, owed, active, tuple(sorted(snapshot.came.items())), ends


def moves(flow: Flow, snapshot: Snapshot) -> Iterator[RunInput]:
    if snapshot.ended:
        return
    for element in snapshot.elements.values():
        for port in flow.steps[element.step].ports:
            outcome = (
                Failed(error=Failure("error", "x"), retry=False) if port == "failed" else Done(port=port)
            )
            yield Reported(element.firing, element.index, element.attempt, outcome)
    for name in flow.outside:
        if name not in snapshot.came:
            yield Outside(event=name)
    if snapshot.ending is None and END_EVENTS & flow.net.awaited:
        yield Canceled()
        if flow.timeout is not None:
            yield RunTimedOut(snapshot.epoch)


def explore(flow: Flow) -> tuple[list[Snapshot], bool]:
    """Every state a run can be in, and whether these are all."""
    first = advance(flow, new_run(Header(id=RunId("r"), workflow="w")), [Begun()], START_TIME).snapshot
    seen, states = {shape(first)}, [first]
    for snapshot in states:
        for move in moves(flow, snapshot):
            after = advance(flow, snapshot, [move], START_TIME).snapshot
            if shape(after) not in seen:
                seen.add(shape(after))
                states.append(after)
                if len(states) > MOST:
                    return states, False
    return states, True


def random_flow(chance: random.Random, ends: tuple[str, ...] = (), keep: bool = False) -> Flow:
    names = ["a", "b", "c", "d", "e"][: chance.randint(2, 5)]
    events = ["x", "y", "z", "out"]
    lines = []
    for at, name in enumerate(names):
        known = ["START", *events, *names[:at], *ends] if at else ["START"]
        slots = []
        for _ in range(chance.choice([1, 1, 2, 2, 3])):
            kind = chance.random()
            if kind < 0.7:
                slots.append(chance.choice(known))
            elif kind < (0.75 if keep else 0.9) or len(known) < 3:
                slots.append(f'"{" | ".join(dict.fromkeys(chance.choices(known, k=2)))}"')
            else:
                rest = ", rest: keep" if keep and chance.random() < 0.7 else ""
                wanted = f"need: {chance.randint(1, 2)}, of: [{', '.join(chance.sample(known, 3))}]"
                slots.append(f"{{{wanted}{rest}}}")
        ports = [f"done: [{_event(chance)}]"] + (
            [f"other: [{_event(chance)}]"] if chance.random() < 0.4 else []
        )
        ports += [f"failed: [{_event(chance)}]"] if chance.random() < 0.4 else []
        cancels = f", cancels: [{chance.choice(names)}]" if chance.random() < 0.12 else ""
        lines.append(
            f"{name}: {{task: t{at}, after: [{', '.join(slots)}], emits: {{{', '.join(ports)}}}{cancels}}}"
        )
    head = "external: [out]\n" + ("on_failure: continue\n" if chance.random() < 0.3 else "")
    head += "timeout: 1h" if TIMEOUT in ends else ""
    return flow_of("\n".join(lines), head)


def _event(chance: random.Random) -> str:
    return chance.choice(["x", "y", "z", "x", "y", "z", "OK", "FAIL"])


def codes_of(flow: Flow) -> tuple[set[str], set[str | None], Any]:
    report = check_flow(flow, OFFERS, clock=time.monotonic)
    dead = {
        finding.step
        for finding in report.findings
        if finding.code in ("dead-step", "missing-event") and finding.severity == "error"
    }
    return {finding.code for finding in report.findings}, dead, report


def compare(seed: int, ends: tuple[str, ...] = (), keep: bool = False) -> str:
    flow = random_flow(random.Random(seed), ends, keep)
    states, whole = explore(flow)
    codes, dead, report = codes_of(flow)
    stalled = any(snapshot.status == "stalled" for snapshot in states)
    text = f"seed {seed}: {report.verdict}, {sorted(codes)}"
    if stalled:
        assert "deadlock" in codes or "unbounded" in codes or report.verdict == "undecided", text
    if whole and report.verdict != "undecided":
        unfired = set(flow.steps) - {name for snapshot in states for name in snapshot.steps}
        if any(step.wired.cancels for step in flow.steps.values()):
            # The engine begins steps that wake together in the order of the workflow; the proof allows any order.
            assert dead <= unfired, text
        elif "rest: keep" in report.assumes:
            # The proof lets a firing take any of the events that wait; the engine takes the oldest.
            assert dead <= unfired, text
            assert stalled == ("deadlock" in codes), text
        else:
            assert dead == unfired, text
            assert "unbounded" not in codes, text
        assert stalled == ("deadlock" in codes), text
    return f"{report.verdict}{' stalled' if stalled else ''}{'' if whole else ' partly seen'}"


@pytest.mark.parametrize("block", range(10))
def test_the_proof_and_the_runs_agree(block: int) -> None:
    kinds = {compare(seed) for seed in range(block * 30, block * 30 + 30)}

    assert {"refuted stalled", "proved"} & kinds


@pytest.mark.parametrize("block", range(8))
def test_the_proof_and_the_clean_ups_agree(block: int) -> None:
    """Steps that wait for an end event, alone or with what the run left: each fires where the proof says it can."""
    awaited = [(CANCEL,), (FAIL,), (FAIL, CANCEL), (CANCEL, TIMEOUT)]
    kinds = {compare(seed, awaited[seed % 4]) for seed in range(block * 25, block * 25 + 25)}

    assert "refuted" in kinds


@pytest.mark.parametrize("block", range(4))
def test_the_proof_and_the_runs_agree_where_the_rest_is_kept(block: int) -> None:
    kinds = {compare(seed, keep=True) for seed in range(100 + block * 20, 120 + block * 20)}

    assert "refuted stalled" in kinds
