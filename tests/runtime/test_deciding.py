"""What is decided together is written together, and means the same as if it had come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from penstock import Engine, Out
from penstock.engine.authoring.loader import load
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Header, Pauser, RunId
from penstock.flow.model.run_input import Begun, Paused, Resumed
from penstock.runtime.decisions import advancer, plan_to_change
from penstock.runtime.decisions.decision import Decision, Request, Reservation, ReservationMaker
from penstock.runtime.decisions.fast.fast_path import FastPath
from penstock.runtime.decisions.plan_to_change import decide, write_down
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import Change

RUN = RunId("0" * 20)
FLOW = load("penstock: 1\nname: one\nsteps:\n  a: {task: t}\n").flow


class _Slot:
    worker = "w"


class _Slots:
    def reserve(self, attempt: Attempt) -> Reservation | None:
        return _Slot()

    def free(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """Nothing was promised."""


def _decide(*occurrences: Paused | Resumed, paused: tuple[Pauser, ...] = ()) -> Decision:
    """A run that begins, and whatever happens to it before that is written."""
    header = Header(
        id=RUN, workflow="one", version=1, subject=None, labels={}, input=None, parent=None, rerun_of=None
    )
    snapshot = structs.replace(new_run(header), paused=paused)
    requests = [Request(RUN, Begun(), new=snapshot), *(Request(RUN, each) for each in occurrences)]
    fast = FastPath()
    decision = decide(CachedRun(FLOW, snapshot), requests, datetime(2026, 1, 1, tzinfo=UTC), fast)
    write_down(decision, _Slots(), fast)
    return decision


def _handed(decision: Decision) -> list[tuple[str | None, bool]]:
    assert decision.change is not None
    return [(task.worker, task.held) for task in decision.change.tasks]


def test_a_task_goes_to_the_slot_that_waits_for_it() -> None:
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


def test_a_change_that_says_it_has_no_extras_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[Change] = []
    hidden: list[dict[str, Any]] = []

    def looked(decision: Decision, slots: ReservationMaker, fast: FastPath) -> None:
        write_down(decision, slots, fast)
        if decision.change is not None:
            changes.append(decision.change)
            if not decision.change.has_extras:
                hidden.append(plan_to_change._rare(decision, decision.change))

    monkeypatch.setattr(advancer, "write_down", looked)
    asyncio.run(_do_much())

    assert {change.has_extras for change in changes} == {True, False}
    assert [each for each in hidden if each] == []
    assert all(
        each.new is None or (each.new.start_key, each.new.labels) == (None, "{}")
        for each in changes
        if not each.has_extras
    )
