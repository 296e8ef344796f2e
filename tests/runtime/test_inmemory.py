"""The host: it does what plans say, for many runs at once, in one thread."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from time import process_time
from typing import Any

import pytest

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import Outside
from penstock.runtime.errors import (
    BadPayload,
    IdempotencyMismatch,
    Invalid,
    InvalidEvent,
    InvalidInput,
    NotRetryable,
    RunEnded,
    UndeclaredEvent,
    UnknownRun,
    UnknownStep,
)
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import VirtualClock
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.task import Out, tasks_of
from tests.flow.driver import flow_of


def host_with(**functions: Any) -> tuple[InMemoryEngine, VirtualClock]:
    clock, numbers = VirtualClock(), count(1)
    return InMemoryEngine(clock, InlineExecutor(tasks_of(functions)), lambda: f"run-{next(numbers)}"), clock


def status(host: InMemoryEngine, run: RunId) -> str:
    return host.run_of(run).snapshot.status


def test_a_run_plays_to_its_end() -> None:
    host, _ = host_with(t=lambda ctx: {"n": len(ctx.input)})

    run = host.start(flow_of("a: {task: t}\nb: {task: t, after: a}"))

    assert status(host, run) == "succeeded"
    assert host.run_of(run).snapshot.steps["b"].output == {"n": 1}


def test_events_of_one_run_never_reach_another() -> None:
    host, _ = host_with(t=lambda: None)
    flow = flow_of("a: {task: t, after: e}", "external: [e]")
    first, second = host.start(flow), host.start(flow)

    host.emit(first, Outside(event="e"))

    assert (status(host, first), status(host, second)) == ("succeeded", "waiting")


def test_time_passes_from_timer_to_timer() -> None:
    host, clock = host_with(t=lambda: None)
    began = clock.now()
    run = host.start(flow_of("w: {task: wait, with: {for: 2d}}\nv: {task: wait, after: w, with: {for: 1h}}"))

    play_out(host, clock, run)

    assert (status(host, run), (clock.now() - began).total_seconds()) == ("succeeded", 49 * 3600)


def test_an_input_that_does_not_fit_makes_no_run() -> None:
    host, _ = host_with()
    flow = flow_of("a: {task: t}", "params: {type: object, required: [n], properties: {n: {type: integer}}}")

    with pytest.raises(
        InvalidInput, match=r'the input does not fit the params of .w.: "n" is a required property'
    ):
        host.start(flow)
    with pytest.raises(InvalidInput, match='n: "x" is not of type "integer"'):
        host.start(flow, input={"n": "x"})
    assert host.runs == {}


def test_an_event_that_is_not_declared_or_does_not_fit_changes_nothing() -> None:
    host, _ = host_with(t=lambda: None)
    flow = flow_of("a: {task: t, after: e}", "external: [{name: e, schema: {type: object}}]")
    run = host.start(flow)

    with pytest.raises(
        UndeclaredEvent, match="'w' takes no event 'x' from outside: it takes e; list it under"
    ):
        host.emit(run, Outside(event="x"))
    with pytest.raises(
        UndeclaredEvent, match="'OK' is fired by Penstock itself and cannot come from outside"
    ):
        host.emit(run, Outside(event="OK"))
    with pytest.raises(InvalidEvent, match="the data of event 'e' does not fit its schema"):
        host.emit(run, Outside(event="e", data=3))
    with pytest.raises(UndeclaredEvent):
        host.start(flow, then=(Outside(event="x"),))
    with pytest.raises(UnknownRun, match="there is no run 'nope'"):
        host.emit(RunId("nope"), Outside(event="e"))

    assert (status(host, run), list(host.runs)) == ("waiting", [run])


def test_a_start_with_a_key_seen_before_gives_the_first_run() -> None:
    host, _ = host_with(t=lambda: None)
    flow = flow_of("a: {task: t}")
    first = host.start(flow, input={"n": 1}, idempotency_key="k")

    assert host.start(flow, input={"n": 1}, idempotency_key="k") == first
    with pytest.raises(IdempotencyMismatch, match="the key 'k' started run 'run-1' with another input"):
        host.start(flow, input={"n": 2}, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        host.start(flow, input={"n": True}, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        host.start(flow, input={"n": 1}, subject="s", idempotency_key="k")
    assert len(host.runs) == 1


CALLBACK = """
create: {task: create}
use: {task: t, after: finished, emits: OK}
"""


def callback_flow() -> Flow:
    return flow_of(CALLBACK, "external: [finished]")


@pytest.mark.parametrize("early", [True, False])
def test_an_outside_event_finds_its_run_by_key_also_when_it_comes_first(early: bool) -> None:
    host, _ = host_with(create=lambda: Out(correlate={"job": "7"}), t=lambda ctx: ctx.events["finished"])
    event = Outside(event="finished", data={"x": 1}, id="m1")
    if early:
        assert host.emit_by_key({"job": "7"}, event) == "accepted"
        assert host.emit_by_key({"job": "7"}, event) == "duplicate"
        assert len(host.undelivered()) == 1
    run = host.start(callback_flow())
    if not early:
        assert host.emit_by_key({"job": "7"}, event) == "accepted"

    assert status(host, run) == "succeeded"
    assert host.run_of(run).snapshot.steps["use"].output == {"x": 1}
    assert host.undelivered() == ()


def test_an_event_for_a_key_after_the_end_is_kept_and_harms_nobody() -> None:
    host, _ = host_with(create=lambda: Out(correlate={"job": "7"}), t=lambda: None)
    run = host.start(callback_flow())
    host.emit_by_key({"job": "7"}, Outside(event="finished"))
    before = host.run_of(run).snapshot

    assert host.emit_by_key({"job": "7"}, Outside(event="finished")) == "accepted"

    assert host.run_of(run).snapshot == before
    assert [kept.key for kept in host.undelivered()] == [{"job": "7"}]


def test_emit_reaches_another_run() -> None:
    host, _ = host_with(create=lambda: Out(correlate={"job": "7"}), t=lambda ctx: ctx.events["finished"])
    waiting = host.start(callback_flow())

    host.start(flow_of("e: {task: emit, with: {event: finished, key: {job: '7'}, data: {from: other}}}"))

    assert host.run_of(waiting).snapshot.steps["use"].output == {"from": "other"}


def test_cancel_and_retry_say_when_they_cannot() -> None:
    host, _ = host_with(t=lambda: None)
    run = host.start(flow_of("a: {task: t}"))

    with pytest.raises(RunEnded, match="run 'run-1' has ended as succeeded"):
        host.cancel(run)
    with pytest.raises(NotRetryable, match="run 'run-1' is succeeded, and only a failed run"):
        host.retry(run)
    with pytest.raises(RunEnded):
        host.pause(run)


def test_a_failed_run_goes_on_after_a_retry() -> None:
    broken = [True]

    def task() -> str:
        if broken.pop() if broken else False:
            raise ValueError("not yet")
        return "fine"

    host, _ = host_with(t=task)
    run = host.start(flow_of("a: {task: t}"))
    assert status(host, run) == "failed"

    host.retry(run)

    assert (status(host, run), host.run_of(run).snapshot.steps["a"].output) == ("succeeded", "fine")


def test_serialized_steps_of_different_runs_do_not_overlap() -> None:
    host, clock = host_with(t=lambda: None)
    flow = flow_of(
        "w: {task: wait, with: {for: 1m}}\ns: {task: t, serialize: data.user, retries: 1, after: w}"
    )
    runs = [host.start(flow, input={"user": user}) for user in ("ann", "ann", "bob")]

    for run in runs:
        play_out(host, clock, run)

    assert [status(host, run) for run in runs] == ["succeeded"] * 3
    assert host.locks.holders('s/"ann"') == set()


def test_a_cyclic_workflow_turns_a_thousand_times() -> None:
    host, _ = host_with(work=lambda ctx: Out(set={"n": ctx.data["n"] + 1}))
    steps = """
work: {task: work, after: START | again}
check: {task: decide, after: work, with: {if: data.n < 1000}, emits: {then: again, else: OK}}
"""
    run = host.start(flow_of(steps), input={"n": 0})

    assert status(host, run) == "succeeded"
    assert host.run_of(run).snapshot.steps["work"].firings == 1000


def test_an_element_of_a_long_each_costs_what_one_of_a_short_each_costs() -> None:
    flow = flow_of("e: {task: t, each: data.items}")

    def cost(size: int) -> float:
        host, _ = host_with(t=lambda: None)
        began = process_time()
        run = host.start(flow, input={"items": list(range(size))})
        assert host.run_of(run).snapshot.steps["e"].elements == (size, size, 0)
        return (process_time() - began) / size

    assert min(cost(8000) for _ in range(3)) < 4 * min(cost(400) for _ in range(3))


def test_a_payload_over_the_limit_or_beyond_json_is_refused_and_nothing_happens() -> None:
    host, _ = host_with(t=lambda: None)
    flow = flow_of("a: {task: t, after: e}", "external: [e]")

    with pytest.raises(
        BadPayload, match="the input has 300002 bytes of JSON, 262144 at most: keep it elsewhere"
    ):
        host.start(flow, input="x" * 300_000)
    with pytest.raises(BadPayload, match="the input is not JSON: nan is not a number of JSON"):
        host.start(flow, input={"n": float("nan")})
    run = host.start(flow)
    with pytest.raises(BadPayload, match="the data of event 'e' has 300002 bytes of JSON"):
        host.emit(run, Outside(event="e", data="x" * 300_000))

    assert (status(host, run), list(host.runs)) == ("waiting", [run])


def test_what_a_caller_does_to_its_input_later_does_not_change_the_run() -> None:
    host, _ = host_with(t=lambda: None)
    given = {"n": [1]}

    run = host.start(flow_of("a: {task: t, after: e}", "external: [e]"), input=given)
    given["n"].append(2)

    assert host.run_of(run).snapshot.data == {"n": [1]}


SPINNING = "a: {task: set, after: START | b.done, with: {n: 1}}\nb: {task: set, after: a, with: {n: 2}}"


def test_a_loop_of_decisions_lets_other_runs_and_timers_have_their_turn() -> None:
    host, clock = host_with(t=lambda: None)
    spinning = host.start(flow_of(SPINNING, "endless: true"))
    other = host.start(flow_of("w: {task: wait, with: {for: 0s}}\na: {task: t, after: w}"))

    play_out(host, clock, other)
    before = host.run_of(spinning).snapshot.steps["a"].firings
    clock.step()

    assert (status(host, other), status(host, spinning)) == ("succeeded", "running")
    assert host.run_of(spinning).snapshot.steps["a"].firings > before > 0


def test_what_happens_to_a_loop_of_decisions_is_not_taken_for_its_rest() -> None:
    host, clock = host_with(t=lambda: None)
    run = host.start(flow_of(f"{SPINNING}\nc: {{task: t, after: e}}", "endless: true\nexternal: [e]"))

    assert host.emit(run, Outside(event="e")) == "accepted"
    assert (status(host, run), host.run_of(run).snapshot.steps["c"].status) == ("running", "complete")
    play_out(host, clock, run, stop=lambda: host.run_of(run).snapshot.steps["a"].firings > 5000)
    host.cancel(run)

    assert (status(host, run), len(clock)) == ("canceled", 0)


def test_an_ended_run_leaves_no_timers_behind() -> None:
    host, clock = host_with(t=lambda: None)
    flow = flow_of("a: {task: t, emits: OK}", "timeout: 2d")

    assert [status(host, host.start(flow)) for _ in range(3)] == ["succeeded"] * 3
    assert len(clock) == 0


def test_a_closed_host_rings_no_timer_and_goes_on_with_no_loop() -> None:
    host, clock = host_with(t=lambda: None)
    runs = [
        host.start(flow_of(SPINNING, "endless: true")),
        host.start(flow_of("w: {task: wait, with: {for: 1h}}")),
    ]
    before = [host.run_of(run).snapshot for run in runs]

    host.close()

    assert (clock.step(), [host.run_of(run).snapshot for run in runs]) == (False, before)


def test_a_step_can_be_disabled_for_one_run() -> None:
    calls: list[int] = []
    host, _ = host_with(t=lambda: calls.append(1))
    flow = flow_of("a: {task: t, after: e}", "external: [{name: e, many: true}]")
    run, other = host.start(flow), host.start(flow)

    host.disable(run, "a")
    with pytest.raises(UnknownStep, match="'w' has no step 'b': its steps are a"):
        host.disable(run, "b")
    with pytest.raises(Invalid, match="step 'a' cannot be disabled to port 'x': its ports are done, failed"):
        host.disable(run, "a", "x")
    host.emit(run, Outside(event="e"))
    states = [host.run_of(each).snapshot.steps.get("a") for each in (run, other)]

    assert ([state and state.status for state in states], calls) == (["disabled", None], [])
    host.cancel(run)
    with pytest.raises(RunEnded):
        host.disable(run, "a")


async def _cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def _exit() -> None:
    sys.exit(1)


@pytest.mark.parametrize("function", [_cancel_itself, _exit, lambda: sys.exit(1)])
def test_a_task_in_place_that_wants_out_is_a_failure_of_its_own(function: Any) -> None:
    executor = InlineExecutor(tasks_of({"t": function}))
    host = InMemoryEngine(VirtualClock(), executor, lambda: "run-1")

    run = host.start(flow_of("a: {task: t}"))
    executor.close()

    error = host.run_of(run).snapshot.steps["a"].error
    assert error is not None
    assert error.kind == "error"
