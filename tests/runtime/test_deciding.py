"""What is decided together is written together, and means the same as if it had come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from penstock import Engine, Out
from penstock.engine.authoring.load import load
from penstock.flow.decisions.advance import new_run
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Header, Pauser, RunId
from penstock.flow.model.run_input import Begun, Done, Paused, Reported, Resumed
from penstock.runtime.decisions import advancer, plan_to_change
from penstock.runtime.decisions.decision import Decision, SlotReservation, SlotReservations
from penstock.runtime.decisions.fast.batch_memo import BatchMemo
from penstock.runtime.decisions.plan_to_change import decide, write_down
from penstock.runtime.decisions.request import Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import WHOLE, Change
from penstock.store.rows.rows import Lease

RUN = RunId("0" * 20)
FLOW = load("penstock: 1\nname: one\nsteps:\n  a: {task: t}\n").flow


class _Desk:
    worker = "w"


class _Desks:
    def reserve(self, attempt: Attempt) -> SlotReservation | None:
        return _Desk()

    def free(self, desks: Sequence[tuple[Attempt, SlotReservation]]) -> None:
        """Nothing was promised."""


def _decide(*occurrences: Paused | Resumed, paused: tuple[Pauser, ...] = ()) -> Decision:
    """A run that begins, and whatever happens to it before that is written."""
    header = Header(
        id=RUN, workflow="one", version=1, subject=None, labels={}, input=None, parent=None, rerun_of=None
    )
    snapshot = structs.replace(new_run(header), paused=paused)
    requests = [Request(RUN, Begun(), new=snapshot), *(Request(RUN, each) for each in occurrences)]
    alike = BatchMemo()
    decision = decide(CachedRun(FLOW, snapshot), requests, datetime(2026, 1, 1, tzinfo=UTC), alike)
    write_down(decision, _Desks(), alike)
    return decision


def _handed(decision: Decision) -> list[tuple[str | None, bool]]:
    assert decision.change is not None
    return [(task.worker, task.held) for task in decision.change.tasks]


def test_a_task_goes_to_the_desk_that_waits_for_it() -> None:
    assert _handed(_decide()) == [("w", False)]


def test_a_task_that_is_made_together_with_a_pause_is_held() -> None:
    assert _handed(_decide(Paused())) == [(None, True)]


def test_a_pause_that_is_over_before_it_is_written_holds_nothing() -> None:
    assert _handed(_decide(Paused(), Resumed())) == [("w", False)]


def test_a_task_between_the_end_of_one_pause_and_the_next_is_held() -> None:
    assert _handed(_decide(Paused("workflow"), Resumed("workflow"), Paused())) == [(None, True)]
    assert _handed(_decide(Resumed("workflow"), Paused(), paused=("workflow",))) == [(None, True)]


MANY = (
    """
penstock: 1
name: fan
labels: {team: red}
steps:
  a: {task: ok}
  each: {task: ok, after: [a], each: "[1, 2]"}
  wait: {task: wait, with: {for: 0.001s}, after: [each]}
  last: {task: ok, after: [wait], serialize: run.id}
""",
    """
penstock: 1
name: events
external: [paid]
steps:
  a: {task: key}
  b: {task: ok, after: [a, paid]}
""",
    """
penstock: 1
name: parent
steps:
  a: {task: workflow, with: {name: plain}}
  b: {task: bad, after: [a], retries: 1, backoff: {initial: 0.001s}}
""",
    """
penstock: 1
name: plain
steps:
  a: {task: ok}
  b: {task: ok, after: [a]}
""",
)


async def _do_much() -> None:
    """Runs with much of what is rare, each to its end."""

    async def ok() -> None:
        """Nothing."""

    async def key() -> Out:
        return Out(correlate={"order": "1"})

    async def bad() -> None:
        raise ValueError

    async with Engine("memory:", tasks={"ok": ok, "key": key, "bad": bad}) as engine, asyncio.timeout(30):
        for text in MANY[::-1]:
            await engine.publish(text)
        runs = [
            await engine.start("fan", subject="s", idempotency_key="k"),
            await engine.start("events"),
            await engine.start("parent"),
            await engine.start("plain", labels={"a": "b"}),
            await engine.start("plain"),
        ]
        await engine.emit("paid", key={"order": "1"}, id="1")
        for run in runs:
            await engine.wait(run)


def test_a_change_that_says_it_is_plain_has_nothing_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[Change] = []
    hidden: list[dict[str, Any]] = []

    def looked(decision: Decision, desks: SlotReservations, alike: BatchMemo) -> None:
        write_down(decision, desks, alike)
        if decision.change is not None:
            changes.append(decision.change)
            if decision.change.plain:
                hidden.append(plan_to_change._rare(decision, decision.change))

    monkeypatch.setattr(advancer, "write_down", looked)
    asyncio.run(_do_much())

    assert {change.plain for change in changes} == {True, False}
    assert [each for each in hidden if each] == []
    assert all(
        each.new is None or (each.new.start_key, each.new.labels) == (None, "{}")
        for each in changes
        if each.plain
    )


FORKED = """
penstock: 1
name: forked
steps:
  a: {task: t}
  b: {task: t, after: [a], with: {n: 1}, timeouts: {schedule_to_close: 1m}}
  c: {task: t, after: [a]}
  d: {task: t, after: [b]}
"""


@pytest.mark.parametrize(
    "more", [{}, {"labels": {"x": "y"}}, {"parent": "p"}, {"input": {"text": "i" * 5_000}}]
)
def test_what_went_straight_is_written_as_all_else_is(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow, now = load(FORKED).flow, datetime(2026, 1, 1, tzinfo=UTC)
    snapshot = new_run(Header(id=RUN, workflow="forked", **more))
    quick, careful = CachedRun(flow, snapshot), CachedRun(flow, snapshot)
    outputs = iter([None, {"text": "x" * 5_000}, [1], "small"])
    waiting = [Request(RUN, Begun(), new=snapshot, latest=1)]
    went = []
    while waiting:
        request, alike = waiting.pop(0), BatchMemo()
        made = decide(quick, [request], now, alike)
        with monkeypatch.context() as patch:
            patch.setattr(plan_to_change, "straight", lambda *_: None)
            again = decide(careful, [request], now, BatchMemo())
        for decision in (made, again):
            write_down(decision, _Desks(), alike)
            decision.live.snapshot = decision.plan.snapshot
        went.append((made.straight, again.straight))
        assert made.change == again.change
        assert made.plan == again.plan
        for attempt, _ in made.desks:
            done = Reported(attempt.firing, None, attempt.attempt, Done(output=next(outputs)))
            waiting.append(Request(RUN, done, None, Lease(RUN, attempt.firing, WHOLE, attempt.attempt, 1)))

    assert quick.snapshot.status == "succeeded"
    assert went == [(True, False)] * 5
